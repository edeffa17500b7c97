#include "kernels/int8/pair_product.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>

#if defined(__x86_64__)
#include <immintrin.h>

#define ASSAY_VNNI __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni")))

namespace assay::kernels {
namespace {

static_assert(kInt8Columns == 16, "a vector has the sums of a panel's columns");

/// Products of a sum that are made at a time: twelve rows and a panel of so many stay in the first-level
/// cache.
constexpr int64_t kPairDepth = 1024;

ASSAY_VNNI inline __m512i pair_weights(const int16_t* p) { return _mm512_loadu_si512(p); }
ASSAY_VNNI inline __m512i pair_weights(const int8_t* p) {
  return _mm512_cvtepi8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}

template <int64_t R, typename T>
ASSAY_VNNI void pair_tile(const int16_t* a, int64_t length, int64_t depth, const T* w, bool adds,
                          int32_t* sums, int64_t stride) {
  __m512i acc[R];
#pragma GCC unroll 12
  for (int64_t r = 0; r < R; ++r)
    acc[r] = adds ? _mm512_loadu_si512(sums + r * stride) : _mm512_setzero_si512();
  for (int64_t k = 0; k < depth; k += 2, w += 2 * kInt8Columns) {
    const __m512i columns = pair_weights(w);
#pragma GCC unroll 12
    for (int64_t r = 0; r < R; ++r) {
      int32_t pair;
      std::memcpy(&pair, a + r * length + k, sizeof pair);
      acc[r] = _mm512_dpwssd_epi32(acc[r], _mm512_set1_epi32(pair), columns);
    }
  }
#pragma GCC unroll 12
  for (int64_t r = 0; r < R; ++r) _mm512_storeu_si512(sums + r * stride, acc[r]);
}

/// One row: sums of every fourth pair apart, since a sum waits for the one before.
template <typename T>
ASSAY_VNNI void pair_row(const int16_t* a, int64_t depth, const T* w, bool adds, int32_t* sums) {
  constexpr int64_t kSums = 4, kStep = 2 * kSums;
  __m512i acc[kSums];
  acc[0] = adds ? _mm512_loadu_si512(sums) : _mm512_setzero_si512();
#pragma GCC unroll 4
  for (int64_t i = 1; i < kSums; ++i) acc[i] = _mm512_setzero_si512();
  const auto add = [&](int64_t i, int64_t k) ASSAY_VNNI {
    int32_t pair;
    std::memcpy(&pair, a + k, sizeof pair);
    acc[i] = _mm512_dpwssd_epi32(acc[i], _mm512_set1_epi32(pair), pair_weights(w + k * kInt8Columns));
  };
  int64_t k = 0;
  for (; k + kStep <= depth; k += kStep) {
#pragma GCC unroll 4
    for (int64_t i = 0; i < kSums; ++i) add(i, k + 2 * i);
  }
  for (; k < depth; k += 2) add(0, k);
  _mm512_storeu_si512(sums,
                      _mm512_add_epi32(_mm512_add_epi32(acc[0], acc[1]), _mm512_add_epi32(acc[2], acc[3])));
}

template <int64_t R, typename T>
ASSAY_VNNI int64_t pair_tiles(int64_t r, int64_t rows, const int16_t* a, int64_t length, int64_t depth,
                              const T* w, bool adds, int32_t* sums, int64_t stride) {
  for (; r + R <= rows; r += R)
    pair_tile<R>(a + r * length, length, depth, w, adds, sums + r * stride, stride);
  return r;
}

template <typename T>
ASSAY_VNNI void pair_panel(const T* weights, const int16_t* a, int64_t rows, int64_t length, int32_t* sums,
                           int64_t stride) {
  for (int64_t k = 0; k < length; k += kPairDepth) {
    const T* const w = weights + k * kInt8Columns;
    const int64_t depth = std::min(kPairDepth, length - k);
    const bool adds = k > 0;
    int64_t r = pair_tiles<12>(0, rows, a + k, length, depth, w, adds, sums, stride);
    r = pair_tiles<6>(r, rows, a + k, length, depth, w, adds, sums, stride);
    r = pair_tiles<2>(r, rows, a + k, length, depth, w, adds, sums, stride);
    for (; r < rows; ++r) pair_row(a + k + r * length, depth, w, adds, sums + r * stride);
  }
}

}  // namespace

bool multiplies_pairs() noexcept {
  static const bool supported = [] {
    const char* const wanted = std::getenv("ASSAY_SIMD");
    if (wanted != nullptr && std::string_view(wanted) == "baseline") return false;
    return __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl");
  }();
  return supported;
}

void pair_product(const Int8Weights& weights, const void* packed, int64_t panel, int64_t count,
                  const int16_t* a, int64_t rows, int32_t* sums, int64_t stride) noexcept {
  const int64_t length = int8_row_length(weights.k);
  for (int64_t p = 0; p < count; ++p) {
    const char* const w = static_cast<const char*>(packed) + (panel + p) * weights.panel_bytes();
    int32_t* const to = sums + p * kInt8Columns;
    if (weights.wide)
      pair_panel(reinterpret_cast<const int16_t*>(w), a, rows, length, to, stride);
    else
      pair_panel(reinterpret_cast<const int8_t*>(w), a, rows, length, to, stride);
  }
}

}  // namespace assay::kernels

#else

namespace assay::kernels {

bool multiplies_pairs() noexcept { return false; }

void pair_product(const Int8Weights&, const void*, int64_t, int64_t, const int16_t*, int64_t, int32_t*,
                  int64_t) noexcept {
  std::abort();
}

}  // namespace assay::kernels

#endif
