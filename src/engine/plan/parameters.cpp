#include "engine/plan/parameters.h"

namespace assay::engine {
namespace {

std::string text(int64_t x) { return std::to_string(x); }
std::string text(double x) { return fmt::format("{:g}", x); }
std::string text(const std::string& s) { return s; }
template <typename T>
std::string text(const std::vector<T>& list) {
  std::string s = "[";
  for (const T& x : list) s += (s.size() > 1 ? ", " : "") + text(x);
  return s + "]";
}

}  // namespace

void Parameters::set(std::string name, Parameter value) {
  for (auto& [key, old] : entries_)
    if (key == name) {
      old = std::move(value);
      return;
    }
  entries_.emplace_back(std::move(name), std::move(value));
}

std::string parameter_text(std::string_view name, const Parameter& value) {
  return fmt::format("{}={}", name, std::visit([](const auto& v) { return text(v); }, value));
}

}  // namespace assay::engine
