#include "kernels/int8/int8_conv.h"

#include "kernels/image_rows.h"
#include "kernels/int8/int8_product.h"
#include "kernels/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/int8/int8_conv.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#ifndef ASSAY_INT8_CONV_TAPS
#define ASSAY_INT8_CONV_TAPS
namespace assay::kernels {
namespace {

/// What a position of the result is computed from: taps inside the image.
struct Taps {
  const char* pixels[kMaxInt8Taps];
  const float* weights[kMaxInt8Taps];
  int64_t count = 0;
};

}  // namespace
}  // namespace assay::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using F = hn::ScalableTag<float>;

/// sums[c] = sum over the taps of (pixels[t][c] - zero_point) * weights[t][c] for V vectors of channels from
/// c on.
template <int64_t V, typename T>
HWY_INLINE void vectors_of_channels(const Taps& taps, float zero_point, int64_t c, int32_t* sums) {
  const F f;
  const hn::Rebind<T, F> narrow;
  const hn::RebindToSigned<F> i32;
  const auto lanes = static_cast<int64_t>(hn::Lanes(f));
  const auto zero = hn::Set(f, zero_point);
  hn::Vec<F> acc[V];
  ASSAY_UNROLL
  for (int64_t v = 0; v < V; ++v) acc[v] = hn::Zero(f);
  for (int64_t t = 0; t < taps.count; ++t) {
    const auto* const x = reinterpret_cast<const T*>(taps.pixels[t]) + c;
    const float* const w = taps.weights[t] + c;
    ASSAY_UNROLL
    for (int64_t v = 0; v < V; ++v) {
      const auto level = hn::ConvertTo(f, hn::PromoteTo(i32, hn::LoadU(narrow, x + v * lanes)));
      acc[v] = hn::MulAdd(hn::Sub(level, zero), hn::LoadU(f, w + v * lanes), acc[v]);
    }
  }
  ASSAY_UNROLL
  for (int64_t v = 0; v < V; ++v) hn::StoreU(hn::NearestInt(acc[v]), i32, sums + c + v * lanes);
}

template <typename T>
void sum_taps(const Taps& taps, float zero_point, int32_t* sums, int64_t channels) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(F()));
  int64_t c = 0;
  for (; c + 4 * lanes <= channels; c += 4 * lanes) vectors_of_channels<4, T>(taps, zero_point, c, sums);
  for (; c + lanes <= channels; c += lanes) vectors_of_channels<1, T>(taps, zero_point, c, sums);
  for (; c < channels; ++c) {
    float sum = 0;
    for (int64_t t = 0; t < taps.count; ++t)
      sum += (static_cast<float>(reinterpret_cast<const T*>(taps.pixels[t])[c]) - zero_point) *
             taps.weights[t][c];
    sums[c] = static_cast<int32_t>(sum);
  }
}

void sum_all_taps(const Taps& taps, bool is_signed, float zero_point, int32_t* sums, int64_t channels) {
  if (is_signed)
    sum_taps<int8_t>(taps, zero_point, sums, channels);
  else
    sum_taps<uint8_t>(taps, zero_point, sums, channels);
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(sum_all_taps);

void gather_int8_rows(const Int8Images& images, const void* x, int64_t first, int64_t count,
                      uint8_t* rows) noexcept {
  const int64_t channels = images.channels, own = channels / images.groups;
  const int64_t length = int8_row_length(images.depth());
  const auto outside = static_cast<uint8_t>(images.zero_point + (images.is_signed ? 128 : 0));
  const auto* const pixels = static_cast<const uint8_t*>(x);
  if (images.groups == 1)
    return gather_rows(
        *images.window, channels, first, count, length, rows,
        [&](int64_t pixel, int64_t n, uint8_t* to) {
          to_unsigned_levels(pixels + pixel * channels, images.is_signed, to, n * channels);
        },
        outside);
  for (int64_t g = 0; g < images.groups; ++g)
    gather_rows(
        *images.window, own, first, count, length, rows + g * length,
        [&](int64_t pixel, int64_t n, uint8_t* to) {
          for (int64_t i = 0; i < n; ++i)
            to_unsigned_levels(pixels + (pixel + i) * channels + g * own, images.is_signed, to + i * own,
                               own);
        },
        outside, images.groups * length);
}

void depthwise_int8(const Int8Images& images, const void* x, const float* weights, int64_t first,
                    int64_t count, int32_t* sums) noexcept {
  const Window& w = *images.window;
  const size_t last = w.rank() - 1;
  const int64_t c = images.channels;
  const auto* const pixels = static_cast<const char*>(x);
  const auto sum = HWY_DYNAMIC_DISPATCH(sum_all_taps);
  Positions position(w, first);
  Taps taps;
  for (int64_t r = 0; r < count; ++r, sums += c, position.next()) {
    const int64_t start = position.start(last);
    const auto [begin, end] = inside_taps(w, start);
    taps.count = 0;
    for_tap_rows(w, position, [&](int64_t tap, int64_t element) {
      if (element < 0) return;
      for (int64_t t = begin; t < end; ++t, ++taps.count) {
        taps.pixels[taps.count] = pixels + (element + start + t * w.dilations[last]) * c;
        taps.weights[taps.count] = weights + (tap + t) * c;
      }
    });
    sum(taps, images.is_signed, static_cast<float>(images.zero_point), sums, c);
  }
}

}  // namespace assay::kernels
#endif
