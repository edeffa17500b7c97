// From sums in registers to 8-bit quantized values, by AVX-512: requantize() without memory.
#pragma once

#include <immintrin.h>

#include <cmath>
#include <cstdint>

#include "kernels/int8/requantize.h"

#define ASSAY_VNNI __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni")))

namespace assay::kernels {

/// Columns whose sums a vector has.
inline constexpr int64_t kVnniLanes = 16;

/// How their sums are quantized: one product and sum, whose error is within `above` and `below`. Where both
/// round to the same value, it is that of the operators one by one.
struct VnniColumns {
  alignas(64) float steps[kVnniLanes];
  alignas(64) float above[kVnniLanes];
  alignas(64) float below[kVnniLanes];
};

/// Of `count` columns, of which lane i stands for the one that order[i] names; lanes beyond `count` are
/// unused. False where the steps or the biases are too large for this.
ASSAY_VNNI inline bool read_vnni_columns(const QuantizedEpilogue& end, int64_t count, __m512i order,
                                         VnniColumns& to) {
  // Biases, in quantized units, and steps: so small that no value leaves the range of int32.
  constexpr float kMaxBias = 512, kMaxStep = 0.9F;
  const Requantization& r = end.requantization;
  const float inverse = 1 / r.scale;
  if (!(inverse > 1e-30F && inverse < 1e30F) || std::isnan(r.low) || std::isnan(r.high)) return false;
  const __mmask16 there = _mm512_cmplt_epi32_mask(order, _mm512_set1_epi32(static_cast<int32_t>(count)));
  const auto quantized_of = [&](const float* p) ASSAY_VNNI {
    return _mm512_mul_ps(_mm512_mask_i32gather_ps(_mm512_setzero_ps(), there, order, p, sizeof(float)),
                         _mm512_set1_ps(inverse));
  };
  const __m512 steps = quantized_of(end.scale),
               biases = end.bias == nullptr ? _mm512_setzero_ps() : quantized_of(end.bias),
               size = _mm512_abs_ps(biases);
  if (_mm512_cmp_ps_mask(_mm512_abs_ps(steps), _mm512_set1_ps(kMaxStep), _CMP_LT_OQ) != 0xFFFF ||
      _mm512_cmp_ps_mask(size, _mm512_set1_ps(kMaxBias), _CMP_LT_OQ) != 0xFFFF)
    return false;
  // In units of 2^-24, for values in range and a bias of B: 2 (512 + B) from the step's two roundings, 2 B
  // from the bias's, 2 (B + 256) from the sum's with zero point and slack, 256 from the result's, and 2 * 512
  // from those that the operators one by one do themselves; all less than 3072 + 6 B.
  const __m512 slack = _mm512_fmadd_ps(size, _mm512_set1_ps(6 * 0x1p-24F), _mm512_set1_ps(3072 * 0x1p-24F)),
               start = _mm512_add_ps(biases, _mm512_set1_ps(static_cast<float>(r.zero_point)));
  _mm512_store_ps(to.steps, steps);
  _mm512_store_ps(to.above, _mm512_add_ps(start, slack));
  _mm512_store_ps(to.below, _mm512_sub_ps(start, slack));
  return true;
}

/// The quantized bounds.
struct VnniBounds {
  char least, most;
  bool is_signed;
};

inline VnniBounds vnni_bounds(const Requantization& r) {
  const float least = r.is_signed ? -128 : 0;
  const auto level = [&](float bound) {
    const float steps = std::nearbyint(bound / r.scale) + static_cast<float>(r.zero_point);
    return static_cast<char>(static_cast<int>(std::fmin(std::fmax(steps, least), least + 255)));
  };
  return {.least = level(r.low), .most = level(r.high), .is_signed = r.is_signed};
}

/// Rounded to the nearest even. (GCC 12 warns of undefined parts of the unmasked forms.)
ASSAY_VNNI inline __m512i vnni_whole(__m512 x) { return _mm512_maskz_cvtps_epi32(0xFFFF, x); }

/// The quantized value of each sum, as int32; `doubts` gets bits where that is uncertain.
ASSAY_VNNI inline __m512i vnni_requantize(__m512i sums, const VnniColumns& c, __m512i& doubts) {
  const __m512 sum = _mm512_maskz_cvtepi32_ps(0xFFFF, sums), step = _mm512_load_ps(c.steps);
  const __m512i above = vnni_whole(_mm512_fmadd_ps(sum, step, _mm512_load_ps(c.above)));
  const __m512i below = vnni_whole(_mm512_fmadd_ps(sum, step, _mm512_load_ps(c.below)));
  doubts = _mm512_ternarylogic_epi32(doubts, above, below, 0xF6);  // doubts | (above ^ below)
  return above;
}

/// Bytes of four vectors' values within the bounds: of each vector's four lanes, in each quarter.
ASSAY_VNNI inline __m512i vnni_bytes(__m512i a, __m512i b, __m512i c, __m512i d, const VnniBounds& bounds) {
  const __m512i ab = _mm512_packs_epi32(a, b), cd = _mm512_packs_epi32(c, d);
  const __m512i least = _mm512_set1_epi8(bounds.least), most = _mm512_set1_epi8(bounds.most);
  if (bounds.is_signed) return _mm512_min_epi8(_mm512_max_epi8(_mm512_packs_epi16(ab, cd), least), most);
  return _mm512_min_epu8(_mm512_max_epu8(_mm512_packus_epi16(ab, cd), least), most);
}

}  // namespace assay::kernels
