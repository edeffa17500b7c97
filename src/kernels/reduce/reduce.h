// Reductions of float32 over one group of adjacent dimensions.
#pragma once

#include <cstdint>

namespace assay::kernels {

enum class Reduction : uint8_t { kSum, kMean, kMax, kMin, kSumSquare, kL1, kL2 };

/// out[o, i] = reduction over r of in[o, r, i], for in of extents [outer, count, inner]. Sums run in several
/// partial accumulators. count >= 1; max and min give NaN when an element is NaN.
void reduce(Reduction kind, const float* in, float* out, int64_t outer, int64_t count,
            int64_t inner) noexcept;

}  // namespace assay::kernels
