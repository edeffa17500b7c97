#include "kernels/nbits/rounded_nbits_x86.h"

#include <immintrin.h>

#include <algorithm>
#include <cstring>

#include "base/parallel.h"
#include "kernels/nbits/rounded_rows.h"
#include "kernels/simd_targets.h"

namespace assay::kernels {
namespace {

#define ASSAY_AVX2 __attribute__((target("avx2,fma")))

ASSAY_AVX2 inline float sum_of_lanes(__m256 v) {
  __m128 sum = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
  sum = _mm_add_ps(sum, _mm_movehl_ps(sum, sum));
  return _mm_cvtss_f32(_mm_add_ss(sum, _mm_movehdup_ps(sum)));
}
ASSAY_AVX2 inline float largest_lane(__m256 v) {
  __m128 most = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
  most = _mm_max_ps(most, _mm_movehl_ps(most, most));
  return _mm_cvtss_f32(_mm_max_ss(most, _mm_movehdup_ps(most)));
}

namespace avx512 {

#define ASSAY_NBITS __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")))

using Ints = __m512i;
using Floats = __m512;
constexpr int64_t kLanes = 16;

ASSAY_NBITS inline __mmask64 first_bits(int64_t count) {
  return count >= 64 ? ~__mmask64{0} : count <= 0 ? 0 : (__mmask64{1} << count) - 1;
}
ASSAY_NBITS inline Ints zero_ints() { return _mm512_setzero_si512(); }
ASSAY_NBITS inline Floats zero_floats() { return _mm512_setzero_ps(); }
ASSAY_NBITS inline Floats all_lanes(float x) { return _mm512_set1_ps(x); }
ASSAY_NBITS inline Floats load_some(const float* p, int64_t count) {
  return _mm512_maskz_loadu_ps(static_cast<__mmask16>(first_bits(count)), p);
}
ASSAY_NBITS inline Floats load_floats(const float* p) { return _mm512_loadu_ps(p); }
ASSAY_NBITS inline Ints load_vector(const int8_t* p) { return _mm512_loadu_si512(p); }
ASSAY_NBITS inline Ints load_bytes(const uint8_t* p, int64_t count) {
  return count >= 64 ? _mm512_loadu_si512(p) : _mm512_maskz_loadu_epi8(first_bits(count), p);
}
ASSAY_NBITS inline Floats add(Floats a, Floats b) { return _mm512_add_ps(a, b); }
ASSAY_NBITS inline Floats multiply(Floats a, Floats b) { return _mm512_mul_ps(a, b); }
ASSAY_NBITS inline Floats multiply_add(Floats a, Floats b, Floats c) { return _mm512_fmadd_ps(a, b, c); }
ASSAY_NBITS inline Floats subtract_product(Floats a, Floats b, Floats c) { return _mm512_fnmadd_ps(a, b, c); }
ASSAY_NBITS inline Floats max_magnitude(Floats a, Floats b) {
  return _mm512_maskz_max_ps(0xFFFF, a, _mm512_and_ps(b, _mm512_castsi512_ps(_mm512_set1_epi32(0x7fffffff))));
}
ASSAY_NBITS inline Floats to_floats(Ints v) { return _mm512_maskz_cvtepi32_ps(0xFFFF, v); }
ASSAY_NBITS inline Floats first_bytes(__m128i v) { return to_floats(_mm512_maskz_cvtepu8_epi32(0xFFFF, v)); }
ASSAY_NBITS inline Ints nearest(Floats v) { return _mm512_maskz_cvtps_epi32(0xFFFF, v); }
ASSAY_NBITS inline void store_bytes(int8_t* p, Ints v) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_maskz_cvtepi32_epi8(0xFFFF, v));
}
ASSAY_NBITS inline Ints dot(Ints sum, Ints levels, Ints rounded) {
  return _mm512_dpbusd_epi32(sum, levels, rounded);
}
template <int kBits>
ASSAY_NBITS inline Ints stream_of(Ints bytes, int stream) {
  if (kBits == 8) return bytes;
  return _mm512_and_si512(
      _mm512_maskz_srli_epi16(~__mmask32{0}, bytes, static_cast<unsigned>(stream * kBits)),
      _mm512_set1_epi8((1 << kBits) - 1));
}
/// Lane i has the number i / `each`.
ASSAY_NBITS inline Ints lane_numbers(int each) {
  alignas(64) int32_t list[kLanes];
  for (int i = 0; i < kLanes; ++i) list[i] = i / each;
  return _mm512_load_si512(list);
}
ASSAY_NBITS inline Floats spread(Floats v, Ints index) {
  return _mm512_maskz_permutexvar_ps(0xFFFF, index, v);
}
template <int kHalf>
ASSAY_NBITS inline __m256 half(Floats v) {
  return _mm512_maskz_extractf32x8_ps(0xFF, v, kHalf);
}
ASSAY_NBITS inline float sum_of_lanes(Floats v) {
  return kernels::sum_of_lanes(_mm256_add_ps(half<0>(v), half<1>(v)));
}
ASSAY_NBITS inline float largest_lane(Floats v) {
  return kernels::largest_lane(_mm256_max_ps(half<0>(v), half<1>(v)));
}

#include "kernels/nbits/rounded_nbits-inl.h"

#undef ASSAY_NBITS

}  // namespace avx512

/// What the two sets of 256 bits share.
namespace avx256 {

using Ints = __m256i;
using Floats = __m256;
constexpr int64_t kLanes = 8;

ASSAY_AVX2 inline Ints zero_ints() { return _mm256_setzero_si256(); }
ASSAY_AVX2 inline Floats zero_floats() { return _mm256_setzero_ps(); }
ASSAY_AVX2 inline Floats all_lanes(float x) { return _mm256_set1_ps(x); }
ASSAY_AVX2 inline Floats load_some(const float* p, int64_t count) {
  const auto n = static_cast<int>(std::clamp<int64_t>(count, 0, kLanes));
  if (n == kLanes) return _mm256_loadu_ps(p);
  return _mm256_maskload_ps(
      p, _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)));
}
ASSAY_AVX2 inline Floats load_floats(const float* p) { return _mm256_loadu_ps(p); }
ASSAY_AVX2 inline Ints load_vector(const int8_t* p) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
}
ASSAY_AVX2 inline Ints load_bytes(const uint8_t* p, int64_t count) {
  if (count >= 32) return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  alignas(32) uint8_t list[32] = {};
  std::copy_n(p, std::max<int64_t>(0, count), list);
  return _mm256_load_si256(reinterpret_cast<const __m256i*>(list));
}
ASSAY_AVX2 inline Floats add(Floats a, Floats b) { return _mm256_add_ps(a, b); }
ASSAY_AVX2 inline Floats multiply(Floats a, Floats b) { return _mm256_mul_ps(a, b); }
ASSAY_AVX2 inline Floats multiply_add(Floats a, Floats b, Floats c) { return _mm256_fmadd_ps(a, b, c); }
ASSAY_AVX2 inline Floats subtract_product(Floats a, Floats b, Floats c) { return _mm256_fnmadd_ps(a, b, c); }
ASSAY_AVX2 inline Floats max_magnitude(Floats a, Floats b) {
  return _mm256_max_ps(a, _mm256_andnot_ps(_mm256_set1_ps(-0.0F), b));
}
ASSAY_AVX2 inline Floats to_floats(Ints v) { return _mm256_cvtepi32_ps(v); }
ASSAY_AVX2 inline Floats first_bytes(__m128i v) { return to_floats(_mm256_cvtepu8_epi32(v)); }
ASSAY_AVX2 inline Ints nearest(Floats v) { return _mm256_cvtps_epi32(v); }
ASSAY_AVX2 inline void store_bytes(int8_t* p, Ints v) {
  const __m128i words = _mm_packs_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(p), _mm_packs_epi16(words, words));
}
template <int kBits>
ASSAY_AVX2 inline Ints stream_of(Ints bytes, int stream) {
  if (kBits == 8) return bytes;
  return _mm256_and_si256(_mm256_srli_epi16(bytes, stream * kBits), _mm256_set1_epi8((1 << kBits) - 1));
}
ASSAY_AVX2 inline Ints lane_numbers(int each) {
  alignas(32) int32_t list[kLanes];
  for (int i = 0; i < kLanes; ++i) list[i] = i / each;
  return _mm256_load_si256(reinterpret_cast<const __m256i*>(list));
}
ASSAY_AVX2 inline Floats spread(Floats v, Ints index) { return _mm256_permutevar8x32_ps(v, index); }

}  // namespace avx256

namespace avx_vnni {
using namespace avx256;

#define ASSAY_NBITS __attribute__((target("avx2,fma,avxvnni")))

ASSAY_NBITS inline Ints dot(Ints sum, Ints levels, Ints rounded) {
  return _mm256_dpbusd_avx_epi32(sum, levels, rounded);
}

#include "kernels/nbits/rounded_nbits-inl.h"

#undef ASSAY_NBITS

}  // namespace avx_vnni

namespace avx2 {
using namespace avx256;

#define ASSAY_NBITS ASSAY_AVX2

/// Two products of levels of at most 4 bits fit in 16 bits.
ASSAY_NBITS inline Ints dot(Ints sum, Ints levels, Ints rounded) {
  return _mm256_add_epi32(sum,
                          _mm256_madd_epi16(_mm256_maddubs_epi16(levels, rounded), _mm256_set1_epi16(1)));
}

#include "kernels/nbits/rounded_nbits-inl.h"

#undef ASSAY_NBITS

}  // namespace avx2
}  // namespace

bool rounded_nbits_avx512(const NbitsWeights& w, const float* x, int64_t m, const float* bias, float* y,
                          void* scratch) noexcept {
  return avx512::rounded_product(w, x, m, bias, y, scratch);
}

bool rounded_nbits_avx_vnni(const NbitsWeights& w, const float* x, int64_t m, const float* bias, float* y,
                            void* scratch) noexcept {
  return avx_vnni::rounded_product(w, x, m, bias, y, scratch);
}

bool rounded_nbits_avx2(const NbitsWeights& w, const float* x, int64_t m, const float* bias, float* y,
                        void* scratch) noexcept {
  return avx2::rounded_product(w, x, m, bias, y, scratch);
}

}  // namespace assay::kernels
