// Products of a few rows with a block of a GateMatrix, in registers.
#if defined(ASSAY_KERNELS_RNN_GATE_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_KERNELS_RNN_GATE_TILE_INL_H_
#undef ASSAY_KERNELS_RNN_GATE_TILE_INL_H_
#else
#define ASSAY_KERNELS_RNN_GATE_TILE_INL_H_
#endif

#include "kernels/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {

inline constexpr int64_t kGateLanes = static_cast<int64_t>(hn::MaxLanes(F()));
/// Sums that the registers hold beside the weights: AVX-512 has 32 registers, the others have 16.
inline constexpr int64_t kGateSums = kGateLanes >= 16 ? 24 : 12;

/// Rows of a full tile.
template <int64_t G>
inline constexpr int64_t kGateRows = kGateSums / G < 8 ? kGateSums / G : 8;

/// Sums of every U-th product are kept apart where there are too few others to keep the units busy.
template <int64_t R, int64_t G>
inline constexpr int64_t kGateChains = R* G >= 6   ? 1
                                       : R* G >= 3 ? 2
                                       : R* G == 2 ? 4
                                                   : 8;

/// sums[r, g, :] = sum over k of a[r * stride + k] * w[k, g, :].
template <int64_t R, int64_t G>
HWY_NOINLINE void gate_tile(const float* w, int64_t k, const float* a, int64_t stride, float* sums) {
  constexpr int64_t U = kGateChains<R, G>;
  const F f;
  VF acc[U][R][G];
  ASSAY_UNROLL
  for (int64_t u = 0; u < U; ++u) ASSAY_UNROLL
  for (int64_t r = 0; r < R; ++r) ASSAY_UNROLL
  for (int64_t g = 0; g < G; ++g) acc[u][r][g] = hn::Zero(f);
  int64_t i = 0;
  for (; i + U <= k; i += U, w += U * G * kGateLanes) ASSAY_UNROLL
  for (int64_t u = 0; u < U; ++u) {
    VF columns[G];
    ASSAY_UNROLL
    for (int64_t g = 0; g < G; ++g) columns[g] = hn::LoadU(f, w + (u * G + g) * kGateLanes);
    ASSAY_UNROLL
    for (int64_t r = 0; r < R; ++r) {
      const VF x = hn::Set(f, a[r * stride + i + u]);
      ASSAY_UNROLL
      for (int64_t g = 0; g < G; ++g) acc[u][r][g] = hn::MulAdd(x, columns[g], acc[u][r][g]);
    }
  }
  for (; i < k; ++i, w += G * kGateLanes) ASSAY_UNROLL
  for (int64_t r = 0; r < R; ++r) {
    const VF x = hn::Set(f, a[r * stride + i]);
    ASSAY_UNROLL
    for (int64_t g = 0; g < G; ++g)
      acc[0][r][g] = hn::MulAdd(x, hn::LoadU(f, w + g * kGateLanes), acc[0][r][g]);
  }
  ASSAY_UNROLL
  for (int64_t r = 0; r < R; ++r) ASSAY_UNROLL
  for (int64_t g = 0; g < G; ++g) {
    VF sum = acc[0][r][g];
    ASSAY_UNROLL
    for (int64_t u = 1; u < U; ++u) sum = hn::Add(sum, acc[u][r][g]);
    hn::StoreU(sum, f, sums + (r * G + g) * kGateLanes);
  }
}

template <int64_t R, int64_t G>
HWY_INLINE void gate_tile_of(int64_t rows, const float* w, int64_t k, const float* a, int64_t stride,
                             float* sums) {
  if constexpr (R > 1)
    if (rows < R) return gate_tile_of<R - 1, G>(rows, w, k, a, stride, sums);
  gate_tile<R, G>(w, k, a, stride, sums);
}

/// The products of all rows with a block, in tiles of about the same height: finish(row, rows, sums) takes
/// them.
template <int64_t G, typename Finish>
HWY_INLINE void gate_rows(const float* w, int64_t k, const float* a, int64_t stride, int64_t rows,
                          Finish finish) {
  constexpr int64_t kMost = kGateRows<G>;
  HWY_ALIGN float sums[kMost * G * kGateLanes];
  const int64_t tiles = (rows + kMost - 1) / kMost;
  for (int64_t t = 0; t < tiles; ++t) {
    const int64_t row = rows * t / tiles, count = rows * (t + 1) / tiles - row;
    gate_tile_of<kMost, G>(count, w, k, a + row * stride, stride, sums);
    finish(row, count, static_cast<const float*>(sums));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#endif  // ASSAY_KERNELS_RNN_GATE_TILE_INL_H_
