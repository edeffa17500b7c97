// The decimal text of one element of any floating type.
#pragma once

#include <string>

#include "assay/dtype.h"
#include "base/python_repr.h"

namespace assay {

/// The fewest digits that identify the number `code` within the type, the nearest to it if there are several.
/// `dtype` is a floating type of at most 16 bits; the number must be finite.
Decimal shortest_decimal(DType dtype, uint32_t code);

/// The number whose digits, at most 18 and read as an integer, are raised by `step`; unchanged if there are
/// more digits.
Decimal stepped_decimal(const Decimal& d, int step);

/// str() of a scalar as NumPy 2.4 prints it: scientific below 1e-4, from 1e16 for float64, 1e6 for float32
/// and 1e3 for float16. The types that NumPy lacks follow float64.
std::string numpy_float_str(double value);
std::string numpy_float_str(float value);
std::string numpy_float_str(DType dtype, uint32_t code);

}  // namespace assay
