// Values as C++ literals.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "assay/type.h"
#include "compare/tolerance.h"

namespace assay::cli {

/// A string literal of any bytes but NUL; bytes that are not printable ASCII become octal escapes.
std::string cpp_string(std::string_view text);
/// "a", "b"
std::string cpp_strings(const std::vector<std::string>& texts);
std::string cpp_integer(int64_t value);
/// A double, also when it is a whole number, infinite or NaN.
std::string cpp_double(double value);
std::string cpp_number(const Tolerance& value);
/// {1, 3, -1, Dim::symbol("n")}
std::string cpp_dims(const Dims& dims);

}  // namespace assay::cli
