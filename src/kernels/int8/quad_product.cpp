#include "kernels/int8/quad_product.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <numeric>
#include <string_view>

#if defined(__x86_64__)
#include <immintrin.h>

#define ASSAY_VNNI __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni")))

namespace assay::kernels {
namespace {

static_assert(kInt8Columns == 16, "a vector has the sums of a panel's columns");

/// Products of a sum that are made at a time: rows and panels of so many stay in the first-level cache.
constexpr int64_t kQuadDepth = 1024;
/// Rows whose sums are known at a time.
constexpr int64_t kQuadRows = 192;

/// What a tile reads and writes.
struct QuadTile {
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
};

ASSAY_VNNI inline __m512i first_sums(const QuadTile& t, int64_t row, int64_t panel) {
  const Int8Columns& c =
      *reinterpret_cast<const Int8Columns*>(reinterpret_cast<const char*>(t.columns) + panel * t.panel_bytes);
  const __m512i zero = _mm512_mullo_epi32(_mm512_set1_epi32(-t.zero_point), _mm512_loadu_si512(c.sums));
  if (t.row_sums == nullptr) return zero;
  return _mm512_add_epi32(
      zero, _mm512_mullo_epi32(_mm512_set1_epi32(t.row_sums[row]), _mm512_loadu_si512(c.shifts)));
}

template <int64_t R, int64_t P>
ASSAY_VNNI void quad_tile(const QuadTile& t, int64_t row) {
  const uint8_t* const a = t.a + row * t.a_stride;
  const int64_t a_stride = t.a_stride, panel_bytes = t.panel_bytes;
  const int8_t* w = t.weights;
  int32_t* const sums = t.sums + row * t.stride;
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
    for (int64_t p = 0; p < P; ++p) columns[p] = _mm512_loadu_si512(w + p * panel_bytes);
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
    for (int64_t p = 0; p < P; ++p) _mm512_storeu_si512(sums + r * t.stride + p * kInt8Columns, acc[r][p]);
}

template <int64_t R, int64_t P>
ASSAY_VNNI int64_t quad_tiles(int64_t r, int64_t rows, const QuadTile& t) {
  for (; r + R <= rows; r += R) quad_tile<R, P>(t, r);
  return r;
}

template <int64_t P>
ASSAY_VNNI void quad_panels(QuadTile t, int64_t length, int64_t rows) {
  for (int64_t k = 0; k < length; k += kQuadDepth) {
    t.depth = std::min(kQuadDepth, length - k);
    t.adds = k > 0;
    int64_t r = 0;
    if constexpr (P <= 2) {
      r = quad_tiles<12, P>(r, rows, t);
      r = quad_tiles<6, P>(r, rows, t);
    }
    r = quad_tiles<3, P>(r, rows, t);
    quad_tiles<1, P>(r, rows, t);
    t.a += kQuadDepth;
    t.weights += kQuadDepth * kInt8Columns;
  }
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

}  // namespace

bool multiplies_quads() noexcept {
  static const bool supported = [] {
    const char* const wanted = std::getenv("ASSAY_SIMD");
    if (wanted != nullptr && std::string_view(wanted) == "baseline") return false;
    return __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl");
  }();
  return supported;
}

void quad_product(const Int8Weights& weights, const void* packed, int64_t panel, int64_t count,
                  const Int8Rows& a, int64_t rows, int32_t* sums, int64_t stride) noexcept {
  const int64_t length = int8_row_length(weights.k);
  int32_t row_sums[kQuadRows];
  const bool shifted = weights.shifts(packed, panel, count);
  for (int64_t row = 0; row < rows; row += kQuadRows) {
    const int64_t part = std::min(kQuadRows, rows - row);
    if (shifted) add_up_rows(a, row, part, length, row_sums);
    for (int64_t p = 0; p < count;) {
      const char* const w = static_cast<const char*>(packed) + (panel + p) * weights.panel_bytes();
      const QuadTile t{.a = a.data + row * a.stride,
                       .a_stride = a.stride,
                       .weights = reinterpret_cast<const int8_t*>(w),
                       .panel_bytes = weights.panel_bytes(),
                       .depth = 0,
                       .row_sums = shifted ? row_sums : nullptr,
                       .columns = weights.columns(packed, panel + p),
                       .zero_point = a.zero_point,
                       .adds = false,
                       .sums = sums + row * stride + p * kInt8Columns,
                       .stride = stride};
      // A few rows wait for the weights: more of those at a time.
      if (part < 6 && p + 4 <= count)
        quad_panels<4>(t, length, part), p += 4;
      else if (p + 2 <= count)
        quad_panels<2>(t, length, part), p += 2;
      else
        quad_panels<1>(t, length, part), p += 1;
    }
  }
}

}  // namespace assay::kernels

#else

namespace assay::kernels {

bool multiplies_quads() noexcept { return false; }

void quad_product(const Int8Weights&, const void*, int64_t, int64_t, const Int8Rows&, int64_t, int32_t*,
                  int64_t) noexcept {
  std::abort();
}

}  // namespace assay::kernels

#endif
