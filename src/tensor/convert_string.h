// Numbers to text and back, element by element; tensor/convert.cpp is the only user.
#pragma once

#include "assay/tensor.h"

namespace assay::internal {

/// As NumPy's astype(str): shortest digits that identify the number within its own type; True and False.
/// Takes bool, int64, uint64 and floats of 8 bits and more; other types are converted to one of these first.
Tensor numbers_to_strings(const Tensor& t);
/// As Python's float(): surrounding blanks, decimal or scientific notation; inf, infinity and nan, also in
/// capitals. An integer target accepts the same and truncates; bool also accepts True and False. Gives the
/// widest type of the target's kind: uint64, int64 or float64. Throws Error that quotes the text.
Tensor strings_to_numbers(const Tensor& t, DType to);

}  // namespace assay::internal
