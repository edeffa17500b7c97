#include "kernels/approx_gemm/approx_tile.h"

#include <cmath>

#include "kernels/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/approx_gemm/approx_tile.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<double>;
using F = hn::ScalableTag<float>;
using H = hn::Rebind<float, D>;  // as many floats as there are doubles
using VD = hn::Vec<D>;
using VF = hn::Vec<F>;

constexpr auto kLanes = static_cast<int64_t>(hn::MaxLanes(F()));
constexpr auto kDoubles = static_cast<int64_t>(hn::MaxLanes(D()));
/// As in gemm_tile.cpp: rows * vectors sums, a row of B and one element of A fill the registers.
constexpr int64_t kVectors = 3;
#if HWY_TARGET == HWY_AVX3 || HWY_ARCH_ARM_A64
constexpr int64_t kRows = 8;
#else
constexpr int64_t kRows = 4;
#endif
constexpr int64_t kWidth = kVectors * kLanes;

template <int64_t R, int64_t N>
HWY_NOINLINE void tile(int64_t k, const float* a, const float* b, float* c, int64_t ldc, bool add) {
  const F f;
  VF sums[R][N];
  ASSAY_UNROLL
  for (int64_t r = 0; r < R; ++r) ASSAY_UNROLL
  for (int64_t v = 0; v < N; ++v) sums[r][v] = add ? hn::LoadU(f, c + r * ldc + v * kLanes) : hn::Zero(f);
  for (int64_t p = 0; p < k; ++p, a += R, b += kWidth) {
    VF row[N];
    ASSAY_UNROLL
    for (int64_t v = 0; v < N; ++v) row[v] = hn::LoadU(f, b + v * kLanes);
    ASSAY_UNROLL
    for (int64_t r = 0; r < R; ++r) {
      const VF x = hn::Set(f, a[r]);
      ASSAY_UNROLL
      for (int64_t v = 0; v < N; ++v) sums[r][v] = hn::MulAdd(x, row[v], sums[r][v]);
    }
  }
  ASSAY_UNROLL
  for (int64_t r = 0; r < R; ++r) ASSAY_UNROLL
  for (int64_t v = 0; v < N; ++v) hn::StoreU(sums[r][v], f, c + r * ldc + v * kLanes);
}

template <int64_t R>
void rows_of(int64_t columns, int64_t k, const float* a, const float* b, float* c, int64_t ldc, bool add) {
  if (columns > 2 * kLanes)
    tile<R, 3>(k, a, b, c, ldc, add);
  else if (columns > kLanes)
    tile<R, 2>(k, a, b, c, ldc, add);
  else
    tile<R, 1>(k, a, b, c, ldc, add);
}

void multiply(int64_t rows, int64_t columns, int64_t k, const float* a, const float* b, float* c, int64_t ldc,
              bool add) {
  switch (rows) {
    case 8:
      if constexpr (kRows == 8) return rows_of<8>(columns, k, a, b, c, ldc, add);
      return;
    case 4:
      return rows_of<4>(columns, k, a, b, c, ldc, add);
    case 2:
      return rows_of<2>(columns, k, a, b, c, ldc, add);
    default:
      return rows_of<1>(columns, k, a, b, c, ldc, add);
  }
}

void round_all(bool magnitudes, const double* x, int64_t count, double scale, float* out) {
  const D d;
  const VD s = hn::Set(d, scale);
  int64_t i = 0;
  for (; i + kDoubles <= count; i += kDoubles) {
    const VD v = hn::Mul(hn::LoadU(d, x + i), s);
    hn::StoreU(hn::DemoteTo(H(), magnitudes ? hn::Abs(v) : v), H(), out + i);
  }
  for (; i < count; ++i) out[i] = static_cast<float>((magnitudes ? std::abs(x[i]) : x[i]) * scale);
}

void widen_all(const float* x, int64_t count, double scale, double* out) {
  const D d;
  const VD s = hn::Set(d, scale);
  int64_t i = 0;
  for (; i + kDoubles <= count; i += kDoubles)
    hn::StoreU(hn::Mul(hn::PromoteTo(d, hn::LoadU(H(), x + i)), s), d, out + i);
  for (; i < count; ++i) out[i] = static_cast<double>(x[i]) * scale;
}

Extremes extremes_of(const double* x, int64_t count) {
  const D d;
  const VD infinity = hn::Set(d, HUGE_VAL), zero = hn::Zero(d);
  VD top = zero, low = infinity, specials = zero;
  int64_t i = 0;
  for (; i + kDoubles <= count; i += kDoubles) {
    const VD size = hn::Abs(hn::LoadU(d, x + i));
    top = hn::Max(top, size);
    low = hn::Min(low, hn::IfThenElse(hn::Gt(size, zero), size, infinity));
    specials = hn::Add(specials, hn::Sub(size, size));  // NaN beside 0
  }
  Extremes all{.largest = hn::GetLane(hn::MaxOfLanes(d, top)), .least = hn::GetLane(hn::MinOfLanes(d, low))};
  double special = hn::GetLane(hn::SumOfLanes(d, specials));
  for (; i < count; ++i) {
    const double size = std::abs(x[i]);
    if (size > all.largest) all.largest = size;
    if (size > 0 && size < all.least) all.least = size;
    special += size - size;
  }
  all.finite = special == 0;
  return all;
}

ApproxTile make_tile() { return {kRows, kWidth, multiply, round_all, widen_all, extremes_of}; }

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(make_tile);

const ApproxTile& approx_tile() {
  static const ApproxTile tile = HWY_DYNAMIC_DISPATCH(make_tile)();
  return tile;
}

}  // namespace assay::kernels
#endif
