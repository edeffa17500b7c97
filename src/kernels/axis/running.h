// Running sums and products along an axis: CumSum and CumProd.
#pragma once

#include "kernels/axis/axis.h"
#include "kernels/number_type.h"

namespace assay::kernels {

/// Along the axis, y[j] = y[j - 1] + x[j], or the product. `exclusive`: without x[j] itself; `reverse`: from
/// the end. Integers wrap; float32 runs in float64, rounded once for each element.
struct RunningRule {
  bool product = false, exclusive = false, reverse = false;
};

/// float32, float64 and integers of at least 32 bits.
bool is_running_number(DType type);

/// y = running(x); both [outer, extent, inner] of one type.
void run_along(const AxisWalk& walk, DType type, RunningRule rule, const void* x, void* y) noexcept;

}  // namespace assay::kernels
