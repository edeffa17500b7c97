#include "kernels/panel/panel_product.h"

#include <algorithm>

#include "base/parallel.h"

#include "kernels/convert/convert.h"
#include "kernels/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/panel/panel_product.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "kernels/float16_vectors-inl.h"

#ifndef ASSAY_KERNELS_PANEL_STORED_
#define ASSAY_KERNELS_PANEL_STORED_
namespace assay::kernels {

/// Rows of the matrix that a panel is worked through at a time: 16 KiB of it stay in the first-level cache.
inline constexpr int64_t kDepth = 256;

struct StoredFloat16 {
  uint16_t bits;
};
/// Rows in pairs: column by column, the element of the even row and that of the odd one.
struct StoredBfloat16 {
  uint16_t bits;
};

}  // namespace assay::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using P = hn::CappedTag<float, kPanelColumns>;
using VP = hn::Vec<P>;
inline constexpr auto kLanes = static_cast<int64_t>(hn::MaxLanes(P()));
inline constexpr int64_t kVectors = kPanelColumns / kLanes;
/// Rows of a full tile: their sums, a row of the panel and one element fill the registers.
inline constexpr int64_t kRows = kVectors >= kPanelRows ? 1 : kPanelRows / kVectors;

HWY_INLINE VP load_columns(const float* p) { return hn::LoadU(P(), p); }
HWY_INLINE VP load_columns(const StoredFloat16* p) { return load_float16(P(), &p->bits); }

/// Adds rows [0, depth) of a panel to the sums of R rows.
template <int64_t R, typename W>
HWY_INLINE void add_products(const float* a, int64_t a_stride, int64_t depth, const W* w,
                             VP (&acc)[R][kVectors]) {
  for (int64_t k = 0; k < depth; ++k, w += kPanelColumns) {
    VP columns[kVectors];
    ASSAY_UNROLL
    for (int64_t v = 0; v < kVectors; ++v) columns[v] = load_columns(w + v * kLanes);
    ASSAY_UNROLL
    for (int64_t r = 0; r < R; ++r) {
      const VP x = hn::Set(P(), a[r * a_stride + k]);
      ASSAY_UNROLL
      for (int64_t v = 0; v < kVectors; ++v) acc[r][v] = hn::MulAdd(x, columns[v], acc[r][v]);
    }
  }
}

template <int64_t R>
HWY_INLINE void add_products(const float* a, int64_t a_stride, int64_t depth, const StoredBfloat16* w,
                             VP (&acc)[R][kVectors]) {
  const P f;
  const hn::RebindToUnsigned<P> u32;
  for (int64_t k = 0; k < depth; k += 2, w += 2 * kPanelColumns) {
    VP even[kVectors], odd[kVectors];
    ASSAY_UNROLL
    for (int64_t v = 0; v < kVectors; ++v) {
      const auto pairs = hn::LoadU(u32, reinterpret_cast<const uint32_t*>(w) + v * kLanes);
      even[v] = hn::BitCast(f, hn::ShiftLeft<16>(pairs));
      odd[v] = hn::BitCast(f, hn::And(pairs, hn::Set(u32, 0xFFFF0000U)));
    }
    const bool has_odd = k + 1 < depth;
    ASSAY_UNROLL
    for (int64_t r = 0; r < R; ++r) {
      const float* const row = a + r * a_stride + k;
      const VP x = hn::Set(f, row[0]);
      ASSAY_UNROLL
      for (int64_t v = 0; v < kVectors; ++v) acc[r][v] = hn::MulAdd(x, even[v], acc[r][v]);
      if (!has_odd) continue;
      const VP y = hn::Set(f, row[1]);
      ASSAY_UNROLL
      for (int64_t v = 0; v < kVectors; ++v) acc[r][v] = hn::MulAdd(y, odd[v], acc[r][v]);
    }
  }
}

template <int64_t R, typename W>
HWY_NOINLINE void tile(const float* a, int64_t a_stride, int64_t depth, const W* w, const float* start,
                       int64_t start_stride, float* sums, int64_t stride) {
  const P f;
  VP acc[R][kVectors];
  ASSAY_UNROLL
  for (int64_t r = 0; r < R; ++r) ASSAY_UNROLL
  for (int64_t v = 0; v < kVectors; ++v)
    acc[r][v] = start == nullptr ? hn::Zero(f) : hn::LoadU(f, start + r * start_stride + v * kLanes);
  add_products<R>(a, a_stride, depth, w, acc);
  ASSAY_UNROLL
  for (int64_t r = 0; r < R; ++r) ASSAY_UNROLL
  for (int64_t v = 0; v < kVectors; ++v) hn::StoreU(acc[r][v], f, sums + r * stride + v * kLanes);
}

template <typename W>
void panel_rows(const float* a, int64_t a_stride, int64_t rows, int64_t depth, const W* w, const float* start,
                int64_t start_stride, float* sums, int64_t stride) {
  int64_t r = 0;
  const auto take = [&]<int64_t R>() {
    tile<R>(a + r * a_stride, a_stride, depth, w, start == nullptr ? nullptr : start + r * start_stride,
            start_stride, sums + r * stride, stride);
    r += R;
  };
  while (r + kRows <= rows) take.template operator()<kRows>();
  // What is left in few pieces: one row at a time would read the panel as often.
  if constexpr (kRows > 6)
    if (r + 6 <= rows) take.template operator()<6>();
  if constexpr (kRows > 3)
    if (r + 3 <= rows) take.template operator()<3>();
  if constexpr (kRows > 2)
    if (r + 2 <= rows) take.template operator()<2>();
  while (r < rows) take.template operator()<1>();
}

template <typename W>
void product_of(const PanelMatrix& matrix, const void* packed, int64_t panel, int64_t count, const float* a,
                int64_t a_stride, int64_t rows, const float* bias, float* sums, int64_t stride) {
  for (int64_t k = 0; k < matrix.k; k += kDepth)
    for (int64_t p = 0; p < count; ++p) {
      const auto* const w =
          reinterpret_cast<const W*>(static_cast<const char*>(packed) + (panel + p) * matrix.panel_bytes()) +
          k * kPanelColumns;
      float* const to = sums + p * kPanelColumns;
      const float* const first = bias == nullptr ? nullptr : bias + p * kPanelColumns;
      panel_rows(a + k, a_stride, rows, std::min(kDepth, matrix.k - k), w, k == 0 ? first : to,
                 k == 0 ? 0 : stride, to, stride);
    }
}

void product(const PanelMatrix& matrix, const void* packed, int64_t panel, int64_t count, const float* a,
             int64_t a_stride, int64_t rows, const float* bias, float* sums, int64_t stride) {
  switch (matrix.type) {
    case PanelType::kFloat32:
      return product_of<float>(matrix, packed, panel, count, a, a_stride, rows, bias, sums, stride);
    case PanelType::kFloat16:
      return product_of<StoredFloat16>(matrix, packed, panel, count, a, a_stride, rows, bias, sums, stride);
    case PanelType::kBfloat16:
      return product_of<StoredBfloat16>(matrix, packed, panel, count, a, a_stride, rows, bias, sums, stride);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(product);

namespace {

/// Copies one row of one panel; columns beyond n are 0.
void read_row(const PanelMatrix& m, const float* source, int64_t row_stride, int64_t column_stride, int64_t k,
              int64_t panel, float* row) {
  for (int64_t c = 0; c < kPanelColumns; ++c) {
    const int64_t column = panel * kPanelColumns + c;
    row[c] = k < m.k && column < m.n ? source[k * row_stride + column * column_stride] : 0.0F;
  }
}

}  // namespace

void pack_panels(const PanelMatrix& m, const float* source, int64_t row_stride, int64_t column_stride,
                 void* packed) {
  const auto pack_panel = [&](int64_t p) {
    char* to = static_cast<char*>(packed) + p * m.panel_bytes();
    float rows[2][kPanelColumns];
    switch (m.type) {
      case PanelType::kFloat32:
        for (int64_t k = 0; k < m.k; ++k)
          read_row(m, source, row_stride, column_stride, k, p,
                   reinterpret_cast<float*>(to) + k * kPanelColumns);
        break;
      case PanelType::kFloat16:
        for (int64_t k = 0; k < m.k + m.k % 2; ++k, to += 2 * kPanelColumns) {
          read_row(m, source, row_stride, column_stride, k, p, rows[0]);
          narrow_row(NarrowType::kFloat16, rows[0], to, kPanelColumns);
        }
        break;
      case PanelType::kBfloat16:
        for (int64_t k = 0; k < m.k; k += 2, to += 4 * kPanelColumns) {
          float pairs[2 * kPanelColumns];
          read_row(m, source, row_stride, column_stride, k, p, rows[0]);
          read_row(m, source, row_stride, column_stride, k + 1, p, rows[1]);
          for (int64_t c = 0; c < kPanelColumns; ++c)
            pairs[2 * c] = rows[0][c], pairs[2 * c + 1] = rows[1][c];
          narrow_row(NarrowType::kBfloat16, pairs, to, 2 * kPanelColumns);
        }
        break;
    }
  };
  parallel_for(m.panels(), 1, [&](int64_t first, int64_t last) {
    for (int64_t p = first; p < last; ++p) pack_panel(p);
  });
}

void panel_product(const PanelMatrix& matrix, const void* packed, int64_t panel, int64_t count,
                   const float* a, int64_t a_stride, int64_t rows, const float* bias, float* sums,
                   int64_t stride) noexcept {
  HWY_DYNAMIC_DISPATCH(product)(matrix, packed, panel, count, a, a_stride, rows, bias, sums, stride);
}

}  // namespace assay::kernels
#endif
