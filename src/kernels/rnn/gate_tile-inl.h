// Products of a few rows with a block of a GateMatrix, in registers.
#if defined(ASSAY_KERNELS_RNN_GATE_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_KERNELS_RNN_GATE_TILE_INL_H_
#undef ASSAY_KERNELS_RNN_GATE_TILE_INL_H_
#else
#define ASSAY_KERNELS_RNN_GATE_TILE_INL_H_
#endif

#include "kernels/rnn/gates_together.h"
#include "kernels/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {

inline constexpr int64_t kGateLanes = static_cast<int64_t>(hn::MaxLanes(F()));
/// Sums that the registers hold in addition to the weights: AVX-512 has 32 registers, the others have 16.
inline constexpr int64_t kGateSums = kGateLanes >= 16 ? 24 : 12;

/// Rows of a full tile of N gates.
template <int64_t N>
inline constexpr int64_t kGateRows = kGateSums / N < 8 ? kGateSums / N : 8;

/// Gates whose weights are stored side by side (gates_together()), and that a tile has where there are more
/// rows than one of all gates takes: with two gates a vector of weights meets six rows where it would meet
/// three.
template <int64_t G>
inline constexpr int64_t kGatesTogether = gates_together(G, kGateLanes);

/// Sums of every U-th product are kept apart where there are too few others to keep the units busy.
template <int64_t R, int64_t N>
inline constexpr int64_t kGateChains = R* N >= 6   ? 1
                                       : R* N >= 3 ? 2
                                       : R* N == 2 ? 4
                                                   : 8;

/// Of N of G gates: sums[r, n, :] = sum over k of a[r * stride + k] * w[n, k, :], where w has the vectors of
/// `together` gates next to each other for each k, and the rows of sums are G vectors apart.
template <int64_t R, int64_t N, int64_t G>
HWY_NOINLINE void gate_tile(const float* w, int64_t k, const float* a, int64_t stride, float* sums) {
  constexpr int64_t U = kGateChains<R, N>, P = kGatesTogether<G>;
  const F f;
  VF acc[U][R][N];
  ASSAY_UNROLL
  for (int64_t u = 0; u < U; ++u) ASSAY_UNROLL
  for (int64_t r = 0; r < R; ++r) ASSAY_UNROLL
  for (int64_t n = 0; n < N; ++n) acc[u][r][n] = hn::Zero(f);
  const int64_t others = k * P * kGateLanes;  // from some gates' weights to the others'
  const auto weights_of = [&](int64_t u, int64_t n) HWY_ATTR {
    return hn::LoadU(f, w + n / P * others + (u * P + n % P) * kGateLanes);
  };
  // The fewer of rows and gates are held meanwhile: the sums leave few registers.
  const auto add = [&](int64_t u, int64_t column, const float* x) HWY_ATTR {
    if constexpr (R < N) {
      VF rows[R];
      ASSAY_UNROLL
      for (int64_t r = 0; r < R; ++r) rows[r] = hn::Set(f, x[r * stride]);
      ASSAY_UNROLL
      for (int64_t n = 0; n < N; ++n) {
        const VF weights = weights_of(column, n);
        ASSAY_UNROLL
        for (int64_t r = 0; r < R; ++r) acc[u][r][n] = hn::MulAdd(rows[r], weights, acc[u][r][n]);
      }
    } else {
      VF weights[N];
      ASSAY_UNROLL
      for (int64_t n = 0; n < N; ++n) weights[n] = weights_of(column, n);
      ASSAY_UNROLL
      for (int64_t r = 0; r < R; ++r) {
        const VF row = hn::Set(f, x[r * stride]);
        ASSAY_UNROLL
        for (int64_t n = 0; n < N; ++n) acc[u][r][n] = hn::MulAdd(row, weights[n], acc[u][r][n]);
      }
    }
  };
  int64_t i = 0;
  for (; i + U <= k; i += U, w += U * P * kGateLanes) ASSAY_UNROLL
  for (int64_t u = 0; u < U; ++u) add(u, u, a + i + u);
  for (; i < k; ++i, w += P * kGateLanes) add(0, 0, a + i);
  ASSAY_UNROLL
  for (int64_t r = 0; r < R; ++r) ASSAY_UNROLL
  for (int64_t n = 0; n < N; ++n) {
    VF sum = acc[0][r][n];
    ASSAY_UNROLL
    for (int64_t u = 1; u < U; ++u) sum = hn::Add(sum, acc[u][r][n]);
    hn::StoreU(sum, f, sums + (r * G + n) * kGateLanes);
  }
}

template <int64_t R, int64_t N, int64_t G>
HWY_INLINE void gate_tile_of(int64_t rows, const float* w, int64_t k, const float* a, int64_t stride,
                             float* sums) {
  if constexpr (R > 1)
    if (rows < R) return gate_tile_of<R - 1, N, G>(rows, w, k, a, stride, sums);
  gate_tile<R, N, G>(w, k, a, stride, sums);
}

/// The products of all rows with a block, in tiles of about the same height: finish(row, rows, sums) takes
/// them.
template <int64_t G, typename Finish>
HWY_INLINE void gate_rows(const float* w, int64_t k, const float* a, int64_t stride, int64_t rows,
                          Finish finish) {
  constexpr int64_t N = kGatesTogether<G>, kMax = kGateRows<N>;
  HWY_ALIGN float sums[kMax * G * kGateLanes];
  if (rows <= kGateRows<G>) {
    gate_tile_of<kGateRows<G>, G, G>(rows, w, k, a, stride, sums);
    return finish(0, rows, static_cast<const float*>(sums));
  }
  const int64_t tiles = (rows + kMax - 1) / kMax;
  for (int64_t t = 0; t < tiles; ++t) {
    const int64_t row = rows * t / tiles, count = rows * (t + 1) / tiles - row;
    for (int64_t g = 0; g < G; g += N)
      gate_tile_of<kMax, N, G>(count, w + g * k * kGateLanes, k, a + row * stride, stride,
                               sums + g * kGateLanes);
    finish(row, count, static_cast<const float*>(sums));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#endif  // ASSAY_KERNELS_RNN_GATE_TILE_INL_H_
