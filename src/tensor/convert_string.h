// Numbers to text and back, element by element; tensor/convert.cpp is the only user.
#pragma once

#include "assay/tensor.h"

namespace assay::internal {

/// As NumPy's astype(str): shortest digits that identify the number within its own type; True and False.
Tensor numbers_to_strings(const Tensor& t);
/// As Python's float(): surrounding blanks, decimal or scientific notation, inf, infinity and nan in upper or
/// lower case. An integer target accepts the same and truncates; bool also accepts True and False. Throws
/// Error that quotes the text.
Tensor strings_to_numbers(const Tensor& t, DType to, bool saturate);

}  // namespace assay::internal
