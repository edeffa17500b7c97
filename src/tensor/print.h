// The text of an array, as NumPy 2.3 and later print it (before, float32 and float16 turned scientific at
// 1e8, now at 1e6 and 1e3).
#pragma once

#include <cstdint>
#include <string>

#include "assay/tensor.h"
#include "base/python_repr.h"

namespace assay {

/// NumPy's print options, with its defaults.
struct PrintOptions {
  int precision = 8;         ///< digits after the point at most; fewer when fewer identify every element
  int64_t threshold = 1000;  ///< larger arrays are shortened
  int64_t edgeitems = 3;     ///< elements kept at either end of an axis of a shortened array
  int64_t linewidth = 75;    ///< columns after which lines break
  bool suppress = false;     ///< never use scientific notation
};

/// str(array): nested brackets, elements padded to one width. Narrow floating types and packed integers,
/// which NumPy lacks, are printed by the same rules, with the digits that identify an element within its
/// type. A sequence is a bracketed list of its elements, an optional its element or None, a map keys and
/// values in braces.
std::string array_str(const Tensor& t, const PrintOptions& options = {});

}  // namespace assay
