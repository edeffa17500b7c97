#include "kernels/winograd/point_product.h"

#include <algorithm>
#include <array>
#include <utility>

#include "kernels/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/winograd/point_product.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Q = hn::CappedTag<float, kPanelColumns>;
using VQ = hn::Vec<Q>;
inline constexpr auto kPointLanes = static_cast<int64_t>(hn::MaxLanes(Q()));
inline constexpr int64_t kPointVectors = kPanelColumns / kPointLanes;
/// Rows of a tile: where one vector holds a panel's columns, the registers hold the sums of twelve rows and
/// of their parts; else those of the parts alone.
inline constexpr int64_t kPointRows = kPointVectors == 1 ? 12 : std::max<int64_t>(1, 12 / kPointVectors);

/// Adds `depth` products to the parts of R rows.
template <int64_t R>
HWY_INLINE void add_part(const float* a, int64_t a_stride, int64_t depth, const float* w,
                         VQ (&acc)[R][kPointVectors]) {
  for (int64_t k = 0; k < depth; ++k, w += kPanelColumns) {
    VQ columns[kPointVectors];
    ASSAY_UNROLL
    for (int64_t v = 0; v < kPointVectors; ++v) columns[v] = hn::LoadU(Q(), w + v * kPointLanes);
    ASSAY_UNROLL
    for (int64_t r = 0; r < R; ++r) {
      const VQ x = hn::Set(Q(), a[r * a_stride + k]);
      ASSAY_UNROLL
      for (int64_t v = 0; v < kPointVectors; ++v) acc[r][v] = hn::MulAdd(x, columns[v], acc[r][v]);
    }
  }
}

template <int64_t R>
HWY_NOINLINE void point_tile(const float* a, int64_t a_stride, int64_t depth, const float* w, float* sums,
                             int64_t stride) {
  const Q f;
  VQ total[R][kPointVectors], part[R][kPointVectors];
  for (int64_t k = 0; k < depth; k += kPointPart) {
    ASSAY_UNROLL
    for (int64_t r = 0; r < R; ++r) ASSAY_UNROLL
    for (int64_t v = 0; v < kPointVectors; ++v) part[r][v] = hn::Zero(f);
    add_part<R>(a + k, a_stride, std::min(kPointPart, depth - k), w + k * kPanelColumns, part);
    ASSAY_UNROLL
    for (int64_t r = 0; r < R; ++r) ASSAY_UNROLL
    for (int64_t v = 0; v < kPointVectors; ++v) {
      if constexpr (kPointVectors == 1) {
        total[r][v] = k == 0 ? part[r][v] : hn::Add(total[r][v], part[r][v]);
      } else {
        float* const to = sums + r * stride + v * kPointLanes;
        hn::StoreU(k == 0 ? part[r][v] : hn::Add(hn::LoadU(f, to), part[r][v]), f, to);
      }
    }
  }
  if constexpr (kPointVectors == 1) ASSAY_UNROLL
  for (int64_t r = 0; r < R; ++r) hn::StoreU(total[r][0], f, sums + r * stride);
}

using PointTile = void (*)(const float*, int64_t, int64_t, const float*, float*, int64_t);
template <int64_t... R>
constexpr auto point_tiles(std::integer_sequence<int64_t, R...>) {
  return std::array<PointTile, sizeof...(R)>{&point_tile<R + 1>...};
}

void products_of_point(const PanelMatrix& matrix, const float* packed, int64_t panel, int64_t count,
                       const float* a, int64_t a_stride, int64_t rows, float* sums, int64_t stride) {
  static constexpr auto kTiles = point_tiles(std::make_integer_sequence<int64_t, kPointRows>());
  // Tiles of equal height: one of a few rows keeps the multipliers waiting.
  const int64_t tiles = (rows + kPointRows - 1) / kPointRows;
  for (int64_t p = 0; p < count; ++p) {
    const float* const w = packed + (panel + p) * (matrix.panel_bytes() / 4);
    for (int64_t t = 0; t < tiles; ++t) {
      const int64_t first = rows * t / tiles, last = rows * (t + 1) / tiles;
      kTiles[static_cast<size_t>(last - first - 1)](a + first * a_stride, a_stride, matrix.k, w,
                                                    sums + first * stride + p * kPanelColumns, stride);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(products_of_point);

void point_product(const PanelMatrix& matrix, const float* packed, int64_t panel, int64_t count,
                   const float* a, int64_t a_stride, int64_t rows, float* sums, int64_t stride) noexcept {
  HWY_DYNAMIC_DISPATCH(products_of_point)(matrix, packed, panel, count, a, a_stride, rows, sums, stride);
}

}  // namespace assay::kernels
#endif
