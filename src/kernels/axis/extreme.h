// The position of the largest or smallest element along an axis.
#pragma once

#include "kernels/axis/axis.h"
#include "kernels/number_type.h"

namespace assay::kernels {

/// Of equal ones the first, or the last; NaN counts as better than every number.
struct ExtremeRule {
  bool largest = true, last = false;
};

/// places[outer, inner] = the place of the best element of each line. `type`: one of is_number(). The
/// extent is at least 1 unless there are no lines.
void find_extremes(const AxisWalk& walk, DType type, ExtremeRule rule, const void* x,
                   int64_t* places) noexcept;

}  // namespace assay::kernels
