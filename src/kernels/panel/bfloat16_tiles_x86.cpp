#include "kernels/panel/bfloat16_tiles.h"

#include <immintrin.h>

#include <algorithm>
#include <cstring>

#define ASSAY_BF16 __attribute__((target("avx512f,avx512bw,avx512vl,avx512bf16")))

namespace assay::kernels {
namespace {

/// Rows of the matrix that a panel is worked through at a time.
constexpr int64_t kDepth = 512;

template <int64_t R>
ASSAY_BF16 void tile(const uint16_t* a, int64_t a_stride, int64_t depth, const char* w, const float* start,
                     int64_t start_stride, float* sums, int64_t stride) {
  __m512 acc[R];
#pragma GCC unroll 12
  for (int64_t r = 0; r < R; ++r)
    acc[r] = start == nullptr ? _mm512_setzero_ps() : _mm512_loadu_ps(start + r * start_stride);
  for (int64_t k = 0; k < depth; k += 2, w += 64) {
    const auto columns = reinterpret_cast<__m512bh>(_mm512_loadu_si512(w));
#pragma GCC unroll 12
    for (int64_t r = 0; r < R; ++r) {
      int32_t pair;
      std::memcpy(&pair, a + r * a_stride + k, sizeof pair);
      acc[r] = _mm512_dpbf16_ps(acc[r], reinterpret_cast<__m512bh>(_mm512_set1_epi32(pair)), columns);
    }
  }
#pragma GCC unroll 12
  for (int64_t r = 0; r < R; ++r) _mm512_storeu_ps(sums + r * stride, acc[r]);
}

template <int64_t R>
ASSAY_BF16 int64_t tiles(int64_t r, int64_t rows, const uint16_t* a, int64_t a_stride, int64_t depth,
                         const char* w, const float* start, int64_t start_stride, float* sums,
                         int64_t stride) {
  for (; r + R <= rows; r += R)
    tile<R>(a + r * a_stride, a_stride, depth, w, start == nullptr ? nullptr : start + r * start_stride,
            start_stride, sums + r * stride, stride);
  return r;
}

}  // namespace

ASSAY_BF16 void round_bfloat16_rows(const float* from, uint16_t* to, size_t count) noexcept {
  size_t i = 0;
  for (; i + 32 <= count; i += 32) {
    const __m512bh both = _mm512_cvtne2ps_pbh(_mm512_loadu_ps(from + i + 16), _mm512_loadu_ps(from + i));
    _mm512_storeu_si512(to + i, reinterpret_cast<__m512i>(both));
  }
  for (; i < count; i += 16) {
    const auto some = static_cast<__mmask16>(count - i >= 16 ? 0xffffU : (1U << (count - i)) - 1);
    const __m256bh rounded = _mm512_cvtneps_pbh(_mm512_maskz_loadu_ps(some, from + i));
    _mm256_mask_storeu_epi16(to + i, some, reinterpret_cast<__m256i>(rounded));
  }
}

void multiply_bfloat16_tiles(const PanelMatrix& matrix, const void* packed, int64_t panel, int64_t count,
                             const uint16_t* a, int64_t a_stride, int64_t rows, const float* bias,
                             float* sums, int64_t stride) noexcept {
  for (int64_t k = 0; k < matrix.k; k += kDepth)
    for (int64_t p = 0; p < count; ++p) {
      const char* const w =
          static_cast<const char*>(packed) + (panel + p) * matrix.panel_bytes() + k * kPanelColumns * 2;
      float* const to = sums + p * kPanelColumns;
      const float* const start = k > 0 ? to : bias == nullptr ? nullptr : bias + p * kPanelColumns;
      const int64_t start_stride = k > 0 ? stride : 0, depth = std::min(kDepth, matrix.k - k);
      int64_t r = tiles<12>(0, rows, a + k, a_stride, depth, w, start, start_stride, to, stride);
      r = tiles<6>(r, rows, a + k, a_stride, depth, w, start, start_stride, to, stride);
      r = tiles<2>(r, rows, a + k, a_stride, depth, w, start, start_stride, to, stride);
      tiles<1>(r, rows, a + k, a_stride, depth, w, start, start_stride, to, stride);
    }
}

}  // namespace assay::kernels
