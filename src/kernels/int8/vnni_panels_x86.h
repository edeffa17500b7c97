// Parts of the products of 8-bit integers by x86-64's instructions for them, vectors' and tiles': how sums
// begin, and how they become quantized values.
#pragma once

#include <algorithm>
#include <cstring>
#include <iterator>
#include <numeric>

#include "kernels/int8/int8_operands.h"
#include "kernels/int8/requantize.h"
#include "kernels/int8/vnni_requantize.h"

namespace assay::kernels {

static_assert(kInt8Columns == kVnniLanes, "a vector has the sums of a panel's columns");

/// Rows whose sums are known at a time.
inline constexpr int64_t kVnniRows = 192;
/// Panels of a tile, at most.
inline constexpr int64_t kVnniPanels = 4;

/// How the sums of a tile's panels become quantized values.
struct VnniEnd {
  QuantizedEpilogue to;
  int64_t columns;
  VnniBounds bounds;
  VnniColumns panels[kVnniPanels];
};

/// How the sums of a row in a panel begin: with what its zero point takes away and, where columns are
/// shifted, what shifts bring.
ASSAY_VNNI inline __m512i first_sums(const Int8Columns& c, int32_t zero_point, const int32_t* row_sum) {
  const __m512i zero = _mm512_mullo_epi32(_mm512_set1_epi32(-zero_point), _mm512_loadu_si512(c.sums));
  if (row_sum == nullptr) return zero;
  return _mm512_add_epi32(zero,
                          _mm512_mullo_epi32(_mm512_set1_epi32(*row_sum), _mm512_loadu_si512(c.shifts)));
}

/// Four vectors of bytes, of which each quarter has four of each, in their order.
ASSAY_VNNI inline __m512i in_order(__m512i quarters) {
  return _mm512_maskz_permutexvar_epi32(
      0xFFFF, _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15), quarters);
}

/// Rows of P panels each, of which `columns` columns are there: at most as many rows as a vector has. Not by
/// a mask: there are processors where a masked store of bytes takes several times as long.
template <int64_t P>
ASSAY_VNNI inline void store_rows(__m512i bytes, int64_t rows, int64_t columns, char* q, int64_t pitch) {
  constexpr int64_t kRows = 4 / P, kWidth = P * kVnniLanes;
  alignas(64) char stored[64];
  _mm512_store_si512(stored, bytes);
  if (columns == kWidth && rows == kRows) {
#pragma GCC unroll 4
    for (int64_t i = 0; i < kRows; ++i) std::memcpy(q + i * pitch, stored + i * kWidth, kWidth);
  } else {
    for (int64_t i = 0; i < rows; ++i)
      std::memcpy(q + i * pitch, stored + i * kWidth, static_cast<size_t>(columns));
  }
}

/// The quantized values of rows [row, row + count) from their sums, which are P panels each.
template <int64_t P>
ASSAY_VNNI void store_quantized(const int32_t* sums, int64_t row, int64_t count, const VnniEnd& end) {
  constexpr int64_t kRows = 4 / P, kStep = 4 * kVnniLanes;
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
    store_rows<P>(bytes, rows, end.columns, q, end.to.pitch);
    q += rows * end.to.pitch;
  }
}

/// False where it cannot be done so.
ASSAY_VNNI inline bool read_panels(int64_t panels, VnniEnd& end) {
  const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  for (int64_t p = 0; p < panels; ++p) {
    const int64_t first = p * kVnniLanes;
    if (!read_vnni_columns(end.to.at(0, first), end.columns - first, lanes, end.panels[p])) return false;
  }
  return true;
}

ASSAY_VNNI inline void add_up_rows(const Int8Rows& a, int64_t first, int64_t count, int64_t length,
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

}  // namespace assay::kernels
