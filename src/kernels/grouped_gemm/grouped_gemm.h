// Products of small weight matrices with wide ones that are read in place: pointwise convolutions in
// groups.
#pragma once

#include <cstdint>

namespace assay::kernels {

/// `batch` times `groups` products, every matrix dense and row-major, one after the other: groups innermost.
struct GroupedGemm {
  int64_t batch, groups;
  int64_t m, n, k;
};

/// y[b, g] = bias[g] + a[g] * x[b, g] for every image b and group g, with a: groups matrices m x k; x: k x n;
/// y: m x n; bias: groups vectors of m, one number a row, or null. Each element is summed in order of k.
/// y must not overlap the others. Parallel.
void grouped_gemm(const GroupedGemm& p, const float* a, const float* x, const float* bias, float* y) noexcept;

}  // namespace assay::kernels
