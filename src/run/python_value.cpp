#include "run/python_value.h"

#include <cmath>

#include "assay/error.h"
#include "base/python_repr.h"
#include "run/python_parse.h"

namespace assay {
namespace {

std::string_view strip_chars(std::string_view text, std::string_view chars) {
  const size_t first = text.find_first_not_of(chars);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(chars) - first + 1);
}

}  // namespace

double PythonValue::as_double() const {
  require(is_number(), ErrorCode::kInternal, "{} was read as a number", repr());
  return is_int() ? static_cast<double>(std::get<int64_t>(data_)) : std::get<double>(data_);
}

int64_t PythonValue::as_int() const {
  if (is_int()) return std::get<int64_t>(data_);
  const double v = as_double();
  if (std::isnan(v)) return 0;
  if (v >= 9223372036854775808.0) return INT64_MAX;
  if (v < -9223372036854775808.0) return INT64_MIN;
  return static_cast<int64_t>(v);
}

std::string PythonValue::repr() const {
  if (const auto* i = std::get_if<int64_t>(&data_)) return std::to_string(*i);
  if (const auto* d = std::get_if<double>(&data_)) return python_float_repr(*d);
  if (const std::string* s = text()) return python_str_repr(*s);
  std::string out = "[";
  for (const PythonValue& v : *list()) out += (out.size() > 1 ? ", " : "") + v.repr();
  return out + "]";
}

std::string PythonValue::str() const { return text() != nullptr ? *text() : repr(); }

PythonValue python_cast(std::string_view word) {
  word = python_strip(word);
  if (const std::string_view inner = strip_chars(word, "[]"); inner.size() != word.size()) {
    PythonValue::List list;
    for (size_t start = 0; start <= inner.size();) {
      const size_t comma = std::min(inner.find(',', start), inner.size());
      list.push_back(python_cast(inner.substr(start, comma - start)));
      start = comma + 1;
    }
    return list;
  }
  if (const auto i = python_int(word)) return *i;
  if (const auto d = python_float(word)) return *d;
  return std::string(strip_chars(word, "\"'"));
}

std::string python_tuple(const std::vector<PythonValue>& values) {
  std::string out = "(";
  for (size_t i = 0; i < values.size(); ++i) out += (i > 0 ? ", " : "") + values[i].repr();
  return out + (values.size() == 1 ? ",)" : ")");
}

}  // namespace assay
