#include "kernels/grouped_gemm/grouped_gemm.h"

#include <algorithm>

#include "base/parallel.h"
#include "kernels/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/grouped_gemm/grouped_gemm.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "kernels/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {

/// Vectors across a tile and rows of it: their sums, a row of X and one weight fill the registers.
constexpr int64_t kVectors = 3;
#if HWY_TARGET == HWY_AVX3 || HWY_ARCH_ARM_A64
constexpr int64_t kRows = 8;
#else
constexpr int64_t kRows = 4;
#endif

/// R rows of Y in V vectors of columns. `load` and `store` move one vector; the pointers are at the first
/// row and column.
template <int64_t R, int64_t V, typename Load, typename Store>
HWY_INLINE void make_tile(int64_t n, int64_t k, const float* a, const float* x, const float* bias, float* y,
                          Load load, Store store) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(F()));
  VF sums[R][V];
  ASSAY_UNROLL
  for (int64_t r = 0; r < R; ++r) ASSAY_UNROLL
  for (int64_t v = 0; v < V; ++v) sums[r][v] = constant(bias != nullptr ? bias[r] : 0.0F);
  for (int64_t p = 0; p < k; ++p) {
    VF row[V];
    ASSAY_UNROLL
    for (int64_t v = 0; v < V; ++v) row[v] = load(x + p * n + v * lanes);
    ASSAY_UNROLL
    for (int64_t r = 0; r < R; ++r) {
      const VF weight = constant(a[r * k + p]);
      ASSAY_UNROLL
      for (int64_t v = 0; v < V; ++v) sums[r][v] = hn::MulAdd(weight, row[v], sums[r][v]);
    }
  }
  ASSAY_UNROLL
  for (int64_t r = 0; r < R; ++r) ASSAY_UNROLL
  for (int64_t v = 0; v < V; ++v) store(sums[r][v], y + r * n + v * lanes);
}

template <int64_t R, int64_t V>
HWY_INLINE void make_rows(int64_t m, int64_t& done, int64_t n, int64_t k, const float* a, const float* x,
                          const float* bias, float* y, size_t columns) {
  for (; done + R <= m; done += R) {
    const float* b = bias != nullptr ? bias + done : nullptr;
    if (columns >= static_cast<size_t>(V) * hn::Lanes(F()))
      make_tile<R, V>(
          n, k, a + done * k, x, b, y + done * n, [](const float* q) HWY_ATTR { return hn::LoadU(F(), q); },
          [](VF v, float* q) HWY_ATTR { hn::StoreU(v, F(), q); });
    else
      make_tile<R, 1>(
          n, k, a + done * k, x, b, y + done * n,
          [=](const float* q) HWY_ATTR { return load_first(q, columns); },
          [=](VF v, float* q) HWY_ATTR { store_first(v, q, columns); });
  }
}

/// All rows of a strip that is V vectors wide, or `columns` < one vector.
template <int64_t V>
HWY_INLINE void make_strip(int64_t m, int64_t n, int64_t k, const float* a, const float* x, const float* bias,
                           float* y, size_t columns) {
  int64_t done = 0;
  make_rows<kRows, V>(m, done, n, k, a, x, bias, y, columns);
  make_rows<2, V>(m, done, n, k, a, x, bias, y, columns);
  make_rows<1, V>(m, done, n, k, a, x, bias, y, columns);
}

/// Columns [first, last) of one product.
void make_columns(const GroupedGemm& p, int64_t first, int64_t last, const float* a, const float* x,
                  const float* bias, float* y) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(F()));
  int64_t j = first;
  for (; j + kVectors * lanes <= last; j += kVectors * lanes)
    make_strip<kVectors>(p.m, p.n, p.k, a, x + j, bias, y + j, static_cast<size_t>(kVectors * lanes));
  for (; j < last; j += lanes)
    make_strip<1>(p.m, p.n, p.k, a, x + j, bias, y + j, static_cast<size_t>(std::min(lanes, last - j)));
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(make_columns);

namespace {

/// Products that a thread should handle at least.
constexpr int64_t kGrain = 1 << 15;
/// Columns that are shared out together; a multiple of every tile's width.
constexpr int64_t kStrip = 48;

}  // namespace

void grouped_gemm(const GroupedGemm& p, const float* a, const float* x, const float* bias,
                  float* y) noexcept {
  const auto run = HWY_DYNAMIC_DISPATCH(make_columns);
  const int64_t strips = (p.n + kStrip - 1) / kStrip;
  const int64_t grain =
      std::max<int64_t>(1, kGrain / std::max<int64_t>(1, p.m * p.k * std::min(p.n, kStrip)));
  parallel_for(p.batch * p.groups * strips, grain, [&](int64_t first, int64_t last) {
    while (first < last) {
      const int64_t product = first / strips, strip = first % strips, group = product % p.groups;
      const int64_t count = std::min(last - first, strips - strip);
      run(p, strip * kStrip, std::min(p.n, (strip + count) * kStrip), a + group * p.m * p.k,
          x + product * p.k * p.n, bias != nullptr ? bias + group * p.m : nullptr, y + product * p.m * p.n);
      first += count;
    }
  });
}

}  // namespace assay::kernels
#endif
