#include "kernels/int8/vnni_product.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <numeric>

#include "kernels/int8/vnni_requantize.h"

namespace assay::kernels {
namespace {

static_assert(kInt8Columns == kVnniLanes, "a vector has the sums of a panel's columns");

/// Products of a sum that are made at a time: rows and panels of so many stay in the first-level cache.
constexpr int64_t kVnniDepth = 1024;
/// Rows whose sums are known at a time.
constexpr int64_t kVnniRows = 192;
/// Panels of a tile, at most.
constexpr int64_t kVnniPanels = 4;
/// Bytes of a panel that are asked for ahead: weights are read once and come from far.
constexpr int64_t kVnniAhead = 1024;

/// How the sums of a tile's panels become levels.
struct VnniEnd {
  QuantizedEpilogue to;
  int64_t columns;
  VnniBounds bounds;
  VnniColumns panels[kVnniPanels];
};

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
};

ASSAY_VNNI inline __m512i first_sums(const VnniTile& t, int64_t row, int64_t panel) {
  const Int8Columns& c =
      *reinterpret_cast<const Int8Columns*>(reinterpret_cast<const char*>(t.columns) + panel * t.panel_bytes);
  const __m512i zero = _mm512_mullo_epi32(_mm512_set1_epi32(-t.zero_point), _mm512_loadu_si512(c.sums));
  if (t.row_sums == nullptr) return zero;
  return _mm512_add_epi32(
      zero, _mm512_mullo_epi32(_mm512_set1_epi32(t.row_sums[row]), _mm512_loadu_si512(c.shifts)));
}

/// Four vectors of bytes, of which each quarter has four of each, in their order.
ASSAY_VNNI inline __m512i in_order(__m512i quarters) {
  return _mm512_maskz_permutexvar_epi32(
      0xFFFF, _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15), quarters);
}

/// Levels of rows [row, row + count) from their sums, which are P panels each.
template <int64_t P>
ASSAY_VNNI void store_quantized(const int32_t* sums, int64_t row, int64_t count, const VnniEnd& end) {
  constexpr int64_t kRows = 4 / P, kStep = 4 * kVnniLanes;
  const __mmask64 there = ~__mmask64{0} >> (64 - end.columns);
  char* q = static_cast<char*>(end.to.q) + row * end.to.pitch;
  for (int64_t r = 0; r < count; r += kRows, sums += kStep) {
    __m512i doubts = _mm512_setzero_si512(), levels[4];
#pragma GCC unroll 4
    for (int64_t i = 0; i < 4; ++i)
      levels[i] = vnni_requantize(_mm512_load_si512(sums + i * kVnniLanes), end.panels[i % P], doubts);
    const int64_t rows = std::min(kRows, count - r);
    if (__builtin_expect(_mm512_test_epi32_mask(doubts, doubts) != 0, 0)) {
      requantize({sums, P * kVnniLanes, rows, end.columns}, end.to.at(row + r, 0));
      q += rows * end.to.pitch;
      continue;
    }
    const __m512i bytes = in_order(vnni_bytes(levels[0], levels[1], levels[2], levels[3], end.bounds));
    if constexpr (P == 4) {
      _mm512_mask_storeu_epi8(q, there, bytes);
      q += end.to.pitch;
    } else {
      alignas(64) char stored[64];
      _mm512_store_si512(stored, bytes);
      for (int64_t i = 0; i < rows; ++i, q += end.to.pitch)
        if constexpr (P == 2)
          _mm256_mask_storeu_epi8(q, static_cast<__mmask32>(there),
                                  _mm256_load_si256(reinterpret_cast<const __m256i*>(stored) + i));
        else
          _mm_mask_storeu_epi8(q, static_cast<__mmask16>(there),
                               _mm_load_si128(reinterpret_cast<const __m128i*>(stored) + i));
    }
  }
}

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
      acc[r][p] =
          t.adds ? _mm512_loadu_si512(sums + r * t.stride + p * kInt8Columns) : first_sums(t, row + r, p);
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

/// False where it cannot be done so.
ASSAY_VNNI bool read_panels(int64_t panels, VnniEnd& end) {
  const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  for (int64_t p = 0; p < panels; ++p) {
    const int64_t first = p * kVnniLanes;
    if (!read_vnni_columns(end.to.at(0, first), end.columns - first, lanes, end.panels[p])) return false;
  }
  return true;
}

ASSAY_VNNI void add_up_rows(const Int8Rows& a, int64_t first, int64_t count, int64_t length,
                            int32_t* row_sums) {
  const __m512i ones = _mm512_set1_epi8(1);
  for (int64_t r = 0; r < count; ++r) {
    const uint8_t* const row = a.data + (first + r) * a.stride;
    __m512i sum = _mm512_setzero_si512();
    for (int64_t k = 0; k < length; k += 64) {
      const __mmask64 inside = ~__mmask64{0} >> (64 - std::min<int64_t>(64, length - k));
      sum = _mm512_dpbusd_epi32(sum, _mm512_maskz_loadu_epi8(inside, row + k), ones);
    }
    int32_t parts[16];
    _mm512_storeu_si512(parts, sum);
    row_sums[r] = std::accumulate(std::begin(parts), std::end(parts), 0);
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
