#include "kernels/int8/vnni_product.h"

#include <algorithm>
#include <cstring>

#include "kernels/int8/vnni_panels_x86.h"

namespace assay::kernels {
namespace {

/// Products of a sum that are made at a time: rows and panels of so many stay in the first-level cache.
constexpr int64_t kVnniDepth = 1024;
/// Bytes of a panel that are asked for ahead: weights are read once and come from far.
constexpr int64_t kVnniAhead = 1024;

/// What a tile reads and writes.
struct VnniTile {
  const uint8_t* a;
  int64_t a_stride;
  const int8_t* weights;
  int64_t panel_bytes;
  int64_t depth;
  const int32_t* row_sums;  ///< null: no column is shifted
  const Int8Columns* columns;
  int32_t zero_point;
  bool adds;
  int32_t* sums;
  int64_t stride;
  const VnniEnd* end;  ///< null: the sums are the result

  const Int8Columns& columns_of(int64_t panel) const {
    return *reinterpret_cast<const Int8Columns*>(reinterpret_cast<const char*>(columns) +
                                                 panel * panel_bytes);
  }
};

/// The sums of R rows from `row` on; rows of `out` are `out_stride` numbers apart.
template <int64_t R, int64_t P>
ASSAY_VNNI void vnni_tile(const VnniTile& t, int64_t row, int32_t* out, int64_t out_stride) {
  const uint8_t* const a = t.a + row * t.a_stride;
  const int64_t a_stride = t.a_stride, panel_bytes = t.panel_bytes;
  const int8_t* w = t.weights;
  const int32_t* const sums = t.sums + row * t.stride;
  __m512i acc[R][P];
#pragma GCC unroll 12
  for (int64_t r = 0; r < R; ++r)
#pragma GCC unroll 4
    for (int64_t p = 0; p < P; ++p)
      acc[r][p] = t.adds ? _mm512_loadu_si512(sums + r * t.stride + p * kInt8Columns)
                         : first_sums(t.columns_of(p), t.zero_point,
                                      t.row_sums == nullptr ? nullptr : t.row_sums + row + r);
  for (int64_t k = 0; k < t.depth; k += 4, w += 4 * kInt8Columns) {
    __m512i columns[P];
#pragma GCC unroll 4
    for (int64_t p = 0; p < P; ++p) {
      columns[p] = _mm512_loadu_si512(w + p * panel_bytes);
      _mm_prefetch(w + p * panel_bytes + kVnniAhead, _MM_HINT_T0);
    }
#pragma GCC unroll 12
    for (int64_t r = 0; r < R; ++r) {
      int32_t quad;
      std::memcpy(&quad, a + r * a_stride + k, sizeof quad);
      const __m512i x = _mm512_set1_epi32(quad);
#pragma GCC unroll 4
      for (int64_t p = 0; p < P; ++p) acc[r][p] = _mm512_dpbusd_epi32(acc[r][p], x, columns[p]);
    }
  }
#pragma GCC unroll 12
  for (int64_t r = 0; r < R; ++r)
#pragma GCC unroll 4
    for (int64_t p = 0; p < P; ++p) _mm512_storeu_si512(out + r * out_stride + p * kInt8Columns, acc[r][p]);
}

template <int64_t R, int64_t P, bool kQuantized>
ASSAY_VNNI int64_t vnni_tiles(int64_t r, int64_t rows, const VnniTile& t) {
  // The compiler keeps sums in registers where they are stored at once; from here they do not come far.
  alignas(64) int32_t sums[(R + 3) / 4 * 4 * P * kVnniLanes] = {};
  for (; r + R <= rows; r += R)
    if constexpr (kQuantized) {
      vnni_tile<R, P>(t, r, sums, P * kVnniLanes);
      store_quantized<P>(sums, r, R, *t.end);
    } else {
      vnni_tile<R, P>(t, r, t.sums + r * t.stride, t.stride);
    }
  return r;
}

template <int64_t P, bool kQuantized>
ASSAY_VNNI void vnni_rows(int64_t rows, const VnniTile& t) {
  int64_t r = 0;
  if constexpr (P <= 2) {
    r = vnni_tiles<12, P, kQuantized>(r, rows, t);
    r = vnni_tiles<6, P, kQuantized>(r, rows, t);
  }
  r = vnni_tiles<3, P, kQuantized>(r, rows, t);
  vnni_tiles<1, P, kQuantized>(r, rows, t);
}

template <int64_t P>
ASSAY_VNNI void vnni_panels(VnniTile t, int64_t length, int64_t rows) {
  for (int64_t k = 0; k < length; k += kVnniDepth) {
    t.depth = std::min(kVnniDepth, length - k);
    t.adds = k > 0;
    if (t.end != nullptr && k + kVnniDepth >= length)
      vnni_rows<P, true>(rows, t);
    else
      vnni_rows<P, false>(rows, t);
    t.a += kVnniDepth;
    t.weights += kVnniDepth * kInt8Columns;
  }
}

/// With `end`, of `columns` columns: levels; otherwise sums of whole panels.
void multiply_vnni(const Int8Weights& weights, const void* packed, int64_t panel, int64_t columns,
                   const Int8Rows& a, int64_t rows, int32_t* sums, int64_t stride,
                   const QuantizedEpilogue* end) noexcept {
  const int64_t length = int8_row_length(weights.k), count = Int8Weights::panels_of(columns);
  int32_t row_sums[kVnniRows];
  const bool shifted = weights.shifts(packed, panel, count);
  VnniEnd levels;
  if (end != nullptr) levels.bounds = vnni_bounds(end->requantization);
  for (int64_t row = 0; row < rows; row += kVnniRows) {
    const int64_t part = std::min(kVnniRows, rows - row);
    if (shifted) add_up_rows(a, row, part, length, row_sums);
    // A few rows wait for the weights: more of those at a time.
    const int64_t most = part < 6 ? kVnniPanels : 2;
    for (int64_t p = 0, taken = 0; p < count; p += taken) {
      taken = p + most <= count ? most : p + 2 <= count ? 2 : 1;
      const char* const w = static_cast<const char*>(packed) + (panel + p) * weights.panel_bytes();
      VnniTile t{.a = a.data + row * a.stride,
                 .a_stride = a.stride,
                 .weights = reinterpret_cast<const int8_t*>(w),
                 .panel_bytes = weights.panel_bytes(),
                 .depth = 0,
                 .row_sums = shifted ? row_sums : nullptr,
                 .columns = weights.columns(packed, panel + p),
                 .zero_point = a.zero_point,
                 .adds = false,
                 .sums = sums + row * stride + p * kInt8Columns,
                 .stride = stride,
                 .end = nullptr};
      if (end != nullptr) {
        levels.to = end->at(row, p * kInt8Columns);
        levels.columns = std::min(taken * kInt8Columns, columns - p * kInt8Columns);
        if (read_panels(taken, levels)) t.end = &levels;
      }
      if (taken == 4)
        vnni_panels<4>(t, length, part);
      else if (taken == 2)
        vnni_panels<2>(t, length, part);
      else
        vnni_panels<1>(t, length, part);
      if (end != nullptr && t.end == nullptr) requantize({t.sums, stride, part, levels.columns}, levels.to);
    }
  }
}

}  // namespace

void vnni_product(const Int8Weights& weights, const void* packed, int64_t panel, int64_t count,
                  const Int8Rows& a, int64_t rows, int32_t* sums, int64_t stride) noexcept {
  multiply_vnni(weights, packed, panel, count * kInt8Columns, a, rows, sums, stride, nullptr);
}

void vnni_product_quantized(const Int8Weights& weights, const void* packed, int64_t panel, int64_t columns,
                            const Int8Rows& a, int64_t rows, int32_t* sums, int64_t stride,
                            const QuantizedEpilogue& end) noexcept {
  multiply_vnni(weights, packed, panel, columns, a, rows, sums, stride, &end);
}

}  // namespace assay::kernels
