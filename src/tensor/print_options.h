// How much of an array is printed, and with how many digits.
#pragma once

#include <cstdint>

namespace assay {

/// NumPy's print options, with its defaults.
struct PrintOptions {
  int precision = 8;         ///< digits after the point at most; fewer when fewer identify every element
  int64_t threshold = 1000;  ///< arrays larger than this are shortened
  int64_t edgeitems = 3;     ///< elements kept at either end of an axis of a shortened array
  int64_t linewidth = 75;    ///< columns after which lines break
  bool suppress = false;     ///< never use scientific notation
};

}  // namespace assay
