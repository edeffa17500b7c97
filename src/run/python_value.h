// A value on the command line, typed the way Polygraphy types it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace assay {

/// An int, a float, a str or a list of them.
class PythonValue {
 public:
  using List = std::vector<PythonValue>;

  PythonValue(int64_t value) : data_(value) {}                 // NOLINT: literals are values
  PythonValue(double value) : data_(value) {}                  // NOLINT
  PythonValue(std::string value) : data_(std::move(value)) {}  // NOLINT
  PythonValue(List value) : data_(std::move(value)) {}         // NOLINT

  bool is_int() const { return std::holds_alternative<int64_t>(data_); }
  bool is_number() const { return is_int() || std::holds_alternative<double>(data_); }
  const std::string* text() const { return std::get_if<std::string>(&data_); }
  const List* list() const { return std::get_if<List>(&data_); }

  /// A number as float() gives it. Throws Error (kInternal) for text and lists.
  double as_double() const;
  /// A number as int() gives it: towards zero, clamped to int64. Same errors.
  int64_t as_int() const;

  /// As Python's str() and repr() print it.
  std::string str() const;
  std::string repr() const;
  bool operator==(const PythonValue&) const = default;

 private:
  std::variant<int64_t, double, std::string, List> data_;
};

/// Types a word: brackets at either end make a list of its comma-separated parts; then int, then float; else
/// text without the quotes around it. An integer beyond int64 becomes a float.
PythonValue python_cast(std::string_view word);

/// repr() of a tuple: (0, 1), (5,).
std::string python_tuple(const std::vector<PythonValue>& values);

}  // namespace assay
