#include "engine/runtime/step_fields.h"

namespace assay::engine {

void FieldWriter::operator()(std::string_view name, int64_t& number, Bounds) {
  parameters_.set(std::string(name), number);
}
void FieldWriter::operator()(std::string_view name, double& number) {
  parameters_.set(std::string(name), number);
}
void FieldWriter::operator()(std::string_view name, std::string& text) {
  parameters_.set(std::string(name), text);
}
void FieldWriter::operator()(std::string_view name, std::vector<int64_t>& list, size_t, Bounds) {
  parameters_.set(std::string(name), list);
}
void FieldWriter::operator()(std::string_view name, std::vector<double>& list, size_t) {
  parameters_.set(std::string(name), list);
}
void FieldWriter::operator()(std::string_view name, std::vector<int64_t>& list) {
  parameters_.set(std::string(name), list);
}
void FieldWriter::operator()(std::string_view name, std::vector<std::string>& list) {
  parameters_.set(std::string(name), list);
}
bool FieldWriter::is_present(std::string_view, bool wanted) { return wanted; }
size_t FieldWriter::one_of(std::string_view name, size_t value, std::span<const std::string_view> names,
                           const char*) {
  parameters_.set(std::string(name), std::string(names[value]));
  return value;
}

template <typename T>
const T& FieldReader::get(std::string_view name) const {
  const T* value = parameters_.find<T>(name);
  check_plan(value != nullptr, "its parameter '{}' is missing or of another kind", name);
  return *value;
}

template <typename T>
const std::vector<T>& FieldReader::list_of(std::string_view name, size_t count) const {
  const auto& list = get<std::vector<T>>(name);
  check_plan(list.size() == count, "its parameter '{}' has {} numbers, not {}", name, list.size(), count);
  return list;
}

void FieldReader::operator()(std::string_view name, int64_t& number, Bounds bounds) {
  number = get<int64_t>(name);
  check_plan(number >= bounds.low && number <= bounds.high, "its parameter '{}' is {}", name, number);
}
void FieldReader::operator()(std::string_view name, double& number) { number = get<double>(name); }
void FieldReader::operator()(std::string_view name, std::string& text) { text = get<std::string>(name); }
void FieldReader::operator()(std::string_view name, std::vector<int64_t>& list, size_t count, Bounds bounds) {
  list = list_of<int64_t>(name, count);
  for (const int64_t n : list)
    check_plan(n >= bounds.low && n <= bounds.high, "its parameter '{}' holds {}", name, n);
}
void FieldReader::operator()(std::string_view name, std::vector<double>& list, size_t count) {
  list = list_of<double>(name, count);
}
void FieldReader::operator()(std::string_view name, std::vector<int64_t>& list) {
  list = get<std::vector<int64_t>>(name);
}
void FieldReader::operator()(std::string_view name, std::vector<std::string>& list) {
  list = get<std::vector<std::string>>(name);
}
bool FieldReader::is_present(std::string_view name, bool) {
  return std::ranges::any_of(parameters_.entries(), [&](const auto& entry) { return entry.first == name; });
}
size_t FieldReader::one_of(std::string_view name, size_t, std::span<const std::string_view> names,
                           const char* refusal) {
  const auto& text = get<std::string>(name);
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end()) check_plan(false, "{}", fmt::format(fmt::runtime(refusal), text));
  return static_cast<size_t>(found - names.begin());
}

}  // namespace assay::engine
