#include "kernels/int8/quad_depthwise.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "kernels/image_rows.h"
#include "kernels/int8/quad_product.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define ASSAY_VNNI_TAPS __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni")))
#endif

namespace assay::kernels {
namespace {

/// The channel of a block that lies at a place: vector by vector, as unpacking leaves them in each quarter.
constexpr int64_t channel_at(int64_t vector, int64_t place) {
  return place / 4 * 16 + vector * 4 + place % 4;
}

}  // namespace

void pack_quad_taps(const int16_t* numbers, int64_t taps, int64_t channels, int8_t* packed) noexcept {
  std::memset(packed, 0, static_cast<size_t>(quad_taps_bytes(taps, channels)));
  for (int64_t t = 0; t < taps; t += 4)
    for (int64_t block = 0; block < channels; block += kQuadChannels, packed += 4 * kQuadChannels)
      for (int64_t i = 0; i < kQuadChannels; ++i) {
        const int64_t c = block + channel_at(i / 16, i % 16);
        for (int64_t j = 0; c < channels && j < 4 && t + j < taps; ++j)
          packed[i * 4 + j] = static_cast<int8_t>(numbers[(t + j) * channels + c]);
      }
}

#if defined(__x86_64__)

namespace {

/// What a position of the result is computed from.
struct QuadTaps {
  const uint8_t* pixels[(kMaxInt8Taps + 3) / 4 * 4];
  __mmask64 inside[(kMaxInt8Taps + 3) / 4 * 4];
};

/// Sums of up to kQuadChannels channels from c on. `flips`: the sign bits of levels that are int8. kWhole:
/// all these channels are there, and all taps lie inside.
template <bool kWhole>
ASSAY_VNNI_TAPS inline void quad_channels(const QuadTaps& taps, int64_t fours, const int8_t* packed,
                                          int64_t packed_stride, const int32_t* tap_sums, int zero_point,
                                          __m512i outside, __m512i flips, int64_t c, int64_t channels,
                                          int32_t* sums) {
  const int64_t count = std::min(kQuadChannels, channels - c);
  const __mmask64 mask = ~__mmask64{0} >> (64 - count);
  __m512i acc[4];
  for (__m512i& a : acc) a = _mm512_setzero_si512();
  for (int64_t g = 0; g < fours; ++g, packed += packed_stride) {
    __m512i x[4];
#pragma GCC unroll 4
    for (int64_t j = 0; j < 4; ++j)
      x[j] = _mm512_xor_si512(
          kWhole ? _mm512_loadu_si512(taps.pixels[4 * g + j] + c)
                 : _mm512_mask_loadu_epi8(outside, mask & taps.inside[4 * g + j], taps.pixels[4 * g + j] + c),
          flips);
    const __m512i low01 = _mm512_unpacklo_epi8(x[0], x[1]), high01 = _mm512_unpackhi_epi8(x[0], x[1]),
                  low23 = _mm512_unpacklo_epi8(x[2], x[3]), high23 = _mm512_unpackhi_epi8(x[2], x[3]);
    const auto weights = [&](int64_t v) ASSAY_VNNI_TAPS { return _mm512_loadu_si512(packed + v * 64); };
    acc[0] = _mm512_dpbusd_epi32(acc[0], _mm512_unpacklo_epi16(low01, low23), weights(0));
    acc[1] = _mm512_dpbusd_epi32(acc[1], _mm512_unpackhi_epi16(low01, low23), weights(1));
    acc[2] = _mm512_dpbusd_epi32(acc[2], _mm512_unpacklo_epi16(high01, high23), weights(2));
    acc[3] = _mm512_dpbusd_epi32(acc[3], _mm512_unpackhi_epi16(high01, high23), weights(3));
  }
  // Quarters of vectors become vectors of channels that follow each other. (GCC 12 warns of what the
  // unmasked form leaves undefined.)
  constexpr __mmask16 kAll = 0xFFFF;
  const __m512i a = _mm512_maskz_shuffle_i32x4(kAll, acc[0], acc[1], 0x44),
                b = _mm512_maskz_shuffle_i32x4(kAll, acc[2], acc[3], 0x44),
                d = _mm512_maskz_shuffle_i32x4(kAll, acc[0], acc[1], 0xEE),
                e = _mm512_maskz_shuffle_i32x4(kAll, acc[2], acc[3], 0xEE);
  const __m512i order[4] = {
      _mm512_maskz_shuffle_i32x4(kAll, a, b, 0x88), _mm512_maskz_shuffle_i32x4(kAll, a, b, 0xDD),
      _mm512_maskz_shuffle_i32x4(kAll, d, e, 0x88), _mm512_maskz_shuffle_i32x4(kAll, d, e, 0xDD)};
  const __m512i zero = _mm512_set1_epi32(zero_point);
#pragma GCC unroll 4
  for (int64_t v = 0; v < 4; ++v)
    _mm512_mask_storeu_epi32(
        sums + c + 16 * v, static_cast<__mmask16>(mask >> (16 * v)),
        _mm512_sub_epi32(order[v], _mm512_mullo_epi32(zero, _mm512_loadu_si512(tap_sums + c + 16 * v))));
}

}  // namespace

bool multiplies_quad_taps() noexcept { return multiplies_quads(); }

ASSAY_VNNI_TAPS void quad_depthwise(const Int8Images& images, const void* x, const int8_t* packed,
                                    const int32_t* tap_sums, int64_t first, int64_t count,
                                    int32_t* sums) noexcept {
  const Window& w = *images.window;
  const size_t last = w.rank() - 1;
  const int64_t channels = images.channels, kernel = w.kernel[last], step = w.dilations[last];
  const auto* const pixels = static_cast<const uint8_t*>(x);
  const int64_t fours = (w.taps() + 3) / 4;
  const int64_t packed_stride = 4 * ((channels + kQuadChannels - 1) / kQuadChannels * kQuadChannels);
  const __m512i outside = _mm512_set1_epi8(static_cast<char>(images.zero_point)),
                flips = _mm512_set1_epi8(static_cast<char>(images.is_signed ? 0x80 : 0));
  const int zero_point = images.zero_point + (images.is_signed ? 128 : 0);
  QuadTaps taps;
  for (int64_t t = w.taps(); t < 4 * fours; ++t) taps.pixels[t] = pixels, taps.inside[t] = 0;
  Positions position(w, first);
  bool all_inside = false;
  for (int64_t r = 0; r < count; ++r, sums += channels, position.next()) {
    const int64_t start = position.start(last);
    // Where the position before this one in the row saw nothing but the image, as this one does, every tap
    // moves by the stride.
    if (all_inside && start + w.begin[last] > 0 && start + w.reach(last) <= w.in[last]) {
      for (int64_t t = 0; t < w.taps(); ++t) taps.pixels[t] += w.strides[last] * channels;
    } else {
      all_inside = true;
      for_tap_rows(w, position, [&](int64_t tap, int64_t element) {
        for (int64_t t = 0; t < kernel; ++t) {
          const int64_t at = start + t * step;
          const bool inside = element >= 0 && at >= 0 && at < w.in[last];
          taps.pixels[tap + t] = inside ? pixels + (element + at) * channels : pixels;
          taps.inside[tap + t] = inside ? ~__mmask64{0} : 0;
          all_inside = all_inside && inside;
        }
      });
    }
    const auto sum = [&](auto channels_of, int64_t c) ASSAY_VNNI_TAPS {
      channels_of(taps, fours, packed + 4 * c, packed_stride, tap_sums, zero_point, outside, flips, c,
                  channels, sums);
    };
    int64_t c = 0;
    if (all_inside)
      for (; c + kQuadChannels <= channels; c += kQuadChannels) sum(quad_channels<true>, c);
    for (; c < channels; c += kQuadChannels) sum(quad_channels<false>, c);
  }
}

#else

bool multiplies_quad_taps() noexcept { return false; }

void quad_depthwise(const Int8Images&, const void*, const int8_t*, const int32_t*, int64_t, int64_t,
                    int32_t*) noexcept {
  std::abort();
}

#endif

}  // namespace assay::kernels
