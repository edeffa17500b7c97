// Numbers, strings and lists as Python prints them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// A finite number in decimal: sign, digits d1 d2 d3 ..., value d1.d2d3... * 10^exponent. Zero is the digit
/// 0.
struct Decimal {
  bool negative = false;
  std::string digits;
  int exponent = 0;
};
/// The fewest digits that identify the number within its type. The number must be finite.
Decimal shortest_decimal(double value);
Decimal shortest_decimal(float value);
/// Rounded to `precision` digits after the first, exactly, ties to even.
Decimal rounded_decimal(double value, int precision);

/// 1.5e-05, 1e+16: the exponent has at least two digits.
std::string scientific_text(const Decimal& value);
/// 0.000015, 10000000000000000.0: at least one digit on either side of the point.
std::string positional_text(const Decimal& value);

/// repr(float): 0.1, 33.33333333333333, 1e-05, 1e+16, inf, -inf, nan.
std::string python_float_repr(double value);
/// As above, with the digits that identify a float.
std::string python_float_repr(float value);

/// repr(str) of UTF-8 text: quotes chosen as Python does; quotes, backslashes, what is not printable and
/// bytes that are not UTF-8 escaped. (Code points that no Unicode version assigns are taken to be printable.)
std::string python_str_repr(std::string_view text);

/// repr(list): [], [1, 2], [0.5, 1.0], ['a', "it's"].
std::string python_list_repr(std::span<const int64_t> values);
std::string python_list_repr(std::span<const double> values);
std::string python_list_repr(std::span<const std::string> values);

/// C's %.{precision}g, which Python's format(value, ".{precision}g") equals.
std::string format_g(double value, int precision);

}  // namespace assay
