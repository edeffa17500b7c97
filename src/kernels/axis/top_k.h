// The k largest or smallest elements of each line along an axis, in order.
#pragma once

#include "kernels/axis/axis.h"
#include "kernels/number_type.h"

namespace assay::kernels {

/// Longest lines that are searched: places are kept in 32 bits.
inline constexpr int64_t kMaxOfTopK = int64_t{1} << 31;

/// values, places [outer, k, inner] of x [outer, extent, inner]. Of equal elements the first one comes first;
/// NaN counts as larger than every number. 0 <= k <= extent <= kMaxOfTopK. `type`: one of
/// is_number(). Returns false when there is no memory.
bool top_k(const AxisWalk& walk, DType type, int64_t k, bool largest, const void* x, void* values,
           int64_t* places) noexcept;

}  // namespace assay::kernels
