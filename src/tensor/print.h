// The text of an array, as NumPy 2.3 and later print it (before, float32 and float16 turned scientific at
// 1e8, now at 1e6 and 1e3).
#pragma once

#include <string>

#include "assay/tensor.h"
#include "base/python_repr.h"
#include "tensor/print_options.h"

namespace assay {

/// str(array): nested brackets, elements padded to one width. Narrow floating types and packed integers,
/// which NumPy lacks, are printed by the same rules, with the digits that identify an element within its
/// type. A sequence is a bracketed list of its elements, an optional its element or None, a map keys and
/// values in braces.
std::string array_str(const Tensor& t, const PrintOptions& options = {});

}  // namespace assay
