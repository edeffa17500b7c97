#include "cli/values.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "base/log.h"
#include "run/python_parse.h"

namespace assay::cli {
namespace {

std::pair<std::string, std::string> split_last(const std::string& word) {
  const size_t colon = word.rfind(':');
  if (colon == std::string::npos) return {"", word};
  return {word.substr(0, colon), word.substr(colon + 1)};
}

template <typename T>
void assign(std::vector<std::pair<std::string, T>>& entries, std::string key, T value) {
  const auto it = std::find_if(entries.begin(), entries.end(), [&](const auto& e) { return e.first == key; });
  if (it == entries.end())
    entries.emplace_back(std::move(key), std::move(value));
  else
    it->second = std::move(value);
}

Dim to_dim(const std::string& option, const std::string& word, const PythonValue& value) {
  if (value.is_int()) return value.as_int() < 0 ? Dim() : Dim(value.as_int());
  if (const std::string* name = value.text()) return Dim::symbol(*name);
  log::critical(ErrorCode::kInvalidArgument,
                "{}: in {}, {} is not an extent; an extent is an integer, or a name.", option, word,
                value.repr());
}

/// Python's tuple(value): the characters of text.
std::vector<PythonValue> to_tuple(const std::string& word, const PythonValue& value) {
  if (value.list() != nullptr) return *value.list();
  std::vector<PythonValue> characters;
  if (value.text() == nullptr)
    log::critical(ErrorCode::kInvalidArgument,
                  "--val-range: {} is one number; a range needs two, as in [0,1].", word);
  for (const char c : *value.text()) characters.emplace_back(std::string(1, c));
  return characters;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> parse_key_texts(std::span<const std::string> words) {
  std::vector<std::pair<std::string, std::string>> entries;
  for (const std::string& word : words) {
    auto [key, value] = split_last(word);
    assign(entries, std::move(key), python_cast(value).str());
  }
  return entries;
}

KeyValues parse_key_values(std::span<const std::string> words) {
  KeyValues entries;
  for (const std::string& word : words) {
    auto [key, value] = split_last(word);
    assign(entries, std::move(key), python_cast(value));
  }
  return entries;
}

KeyValues parse_key_numbers(const std::string& option, std::span<const std::string> words) {
  KeyValues entries = parse_key_values(words);
  for (const auto& [key, value] : entries)
    if (!value.is_number())
      log::critical(ErrorCode::kInvalidArgument, "{}: {} is not a number{}.", option, value.repr(),
                    key.empty() ? "" : " (for output " + key + ")");
  return entries;
}

std::vector<InputShape> parse_input_shapes(const std::string& option, std::span<const std::string> words) {
  std::vector<InputShape> shapes;
  for (const std::string& word : words) {
    auto [name, text] = split_last(word);
    const PythonValue value = python_cast(text);
    const bool is_empty = value.text() != nullptr && value.text()->empty();
    if (name.empty() || (value.list() == nullptr && !is_empty))
      log::critical(ErrorCode::kInvalidArgument,
                    "{}: could not parse {}. Expected name:[extents], as in image:[1,3,224,224].", option,
                    word);
    InputShape shape{.name = std::move(name)};
    if (value.list() != nullptr)
      for (const PythonValue& extent : *value.list())
        if (extent.text() == nullptr || !extent.text()->empty())
          shape.dims.push_back(to_dim(option, word, extent));
    const auto same_name = [&](const InputShape& s) { return s.name == shape.name; };
    if (const auto it = std::find_if(shapes.begin(), shapes.end(), same_name); it != shapes.end())
      *it = std::move(shape);
    else
      shapes.push_back(std::move(shape));
  }
  return shapes;
}

std::vector<std::pair<std::string, ValueRange>> parse_value_ranges(std::span<const std::string> words) {
  std::vector<std::pair<std::string, ValueRange>> ranges;
  for (const std::string& word : words) {
    auto [name, text] = split_last(word);
    const std::vector<PythonValue> values = to_tuple(word, python_cast(text));
    if (values.size() != 2)
      log::critical(ErrorCode::kInvalidArgument,
                    "In --val-range, for input: {}, expected to receive exactly 2 values, but received {}.\n"
                    "Note: Option was parsed as: input: {}, range: {}",
                    name, values.size(), name, python_tuple(values));
    if (!values[0].is_number() || !values[1].is_number())
      log::critical(ErrorCode::kInvalidArgument,
                    "In --val-range, for input: {}, one or more elements of the range could not be parsed as "
                    "a number.\n"
                    "Note: Option was parsed as: input: {}, range: {}",
                    name, name, python_tuple(values));
    assign(ranges, std::move(name), ValueRange{values[0], values[1]});
  }
  return ranges;
}

int64_t parse_byte_count(const std::string& text) {
  std::string number(text);
  double unit = 1;
  if (!number.empty()) {
    const char suffix = static_cast<char>(std::toupper(static_cast<unsigned char>(number.back())));
    if (const size_t power = std::string_view("KMG").find(suffix); power != std::string_view::npos) {
      unit = std::ldexp(1.0, 10 * (static_cast<int>(power) + 1));
      while (!number.empty() && std::toupper(static_cast<unsigned char>(number.back())) == suffix)
        number.pop_back();
    }
  }
  const auto value = python_float(number);
  if (!value || !(std::abs(*value * unit) < 9.2e18))
    log::critical(
        ErrorCode::kInvalidArgument,
        "Could not convert {} to a number of bytes. Please use either an integer (e.g. 16000000), scientific "
        "notation (e.g. 16e6), or a number with a valid suffix: K, M, or G (e.g. 16M).",
        text);
  return static_cast<int64_t>(*value * unit);
}

int64_t require_at_least(const std::string& option, int64_t value, int64_t least) {
  if (value < least)
    log::critical(ErrorCode::kInvalidArgument, "{}: {} is too small; it must be at least {}.", option, value,
                  least);
  return value;
}

}  // namespace assay::cli
