#include "kernels/pool/byte_average_pool.h"

#include <algorithm>
#include <array>

#include "kernels/image_rows.h"
#include "kernels/int8/int8_product.h"
#include "kernels/pool/byte_max_pool.h"
#include "kernels/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/pool/byte_average_pool.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {

#ifndef ASSAY_BYTE_AVERAGES_SEEN
#define ASSAY_BYTE_AVERAGES_SEEN
/// The pixels that a window sees at a position: rows of some that lie `pitch` bytes apart.
struct SeenPixels {
  struct Row {
    const uint8_t* first;
    int64_t pixels;
  };
  std::array<Row, kMaxByteRows> rows;
  int64_t count = 0, pitch = 0, pixels = 0;

  /// A row that follows the one before becomes a part of it.
  void add(const uint8_t* first, int64_t more) {
    pixels += more;
    Row* const last = count == 0 ? nullptr : &rows[static_cast<size_t>(count - 1)];
    if (last != nullptr && last->first + last->pixels * pitch == first)
      last->pixels += more;
    else
      rows[static_cast<size_t>(count++)] = {first, more};
  }
};
#endif

namespace HWY_NAMESPACE {
namespace byte_averages {
namespace hn = hwy::HWY_NAMESPACE;

/// So many bytes have a sum of 16 bits.
inline constexpr int64_t kMaxInShort = 257;

/// sums[j] = the sum of all pixels' channels c + j, and `start`, for N vectors of D's lanes. Bits of `flip`
/// are inverted first.
template <int64_t N, typename D>
HWY_INLINE void sum_channels(D d, const SeenPixels& seen, int64_t c, uint8_t flip, int32_t start,
                             int32_t* sums) {
  const hn::Rebind<uint8_t, D> bytes;
  constexpr auto kLanes = static_cast<int64_t>(hn::MaxLanes(D()));
  const auto flips = hn::Set(bytes, flip);
  hn::Vec<D> some[N];
  for (int64_t j = 0; j < N * kLanes; ++j) sums[j] = start;
  const auto clear = [&]() HWY_ATTR {
    ASSAY_UNROLL
    for (int64_t v = 0; v < N; ++v) some[v] = hn::Zero(d);
  };
  const auto add_up = [&]() HWY_ATTR {
    ASSAY_UNROLL
    for (int64_t v = 0; v < N; ++v) {
      alignas(64) uint16_t part[kLanes];
      hn::Store(some[v], d, part);
      for (int64_t j = 0; j < kLanes; ++j) sums[v * kLanes + j] += part[j];
    }
  };
  clear();
  int64_t room = kMaxInShort;
  for (int64_t r = 0; r < seen.count; ++r) {
    const SeenPixels::Row& row = seen.rows[static_cast<size_t>(r)];
    const uint8_t* at = row.first + c;
    for (int64_t left = row.pixels; left > 0;) {
      const int64_t now = std::min(left, room);
      for (int64_t p = 0; p < now; ++p, at += seen.pitch) {
        ASSAY_UNROLL
        for (int64_t v = 0; v < N; ++v)
          some[v] = hn::Add(some[v], hn::PromoteTo(d, hn::Xor(hn::LoadU(bytes, at + v * kLanes), flips)));
      }
      left -= now;
      room -= now;
      if (room > 0) continue;
      add_up();
      clear();
      room = kMaxInShort;
    }
  }
  add_up();
}

/// sums[c] of `channels` channels; zero points of signed numbers are theirs.
void sum_pixels(const SeenPixels& seen, int64_t channels, bool is_signed, int zero_point, int32_t* sums) {
  const hn::ScalableTag<uint16_t> d;
  const hn::CappedTag<uint16_t, 8> few;
  constexpr auto kLanes = static_cast<int64_t>(hn::MaxLanes(hn::ScalableTag<uint16_t>()));
  constexpr int64_t kTogether = std::clamp<int64_t>(64 / kLanes, 1, 8), kFew = 8;
  const uint8_t flip = is_signed ? 0x80 : 0;
  const int32_t zero = zero_point + (is_signed ? 128 : 0), start = -static_cast<int32_t>(seen.pixels) * zero;
  int64_t c = 0;
  for (; c + kTogether * kLanes <= channels; c += kTogether * kLanes)
    sum_channels<kTogether>(d, seen, c, flip, start, sums + c);
  for (; c + kLanes <= channels; c += kLanes) sum_channels<1>(d, seen, c, flip, start, sums + c);
  for (; c + kFew <= channels; c += kFew) sum_channels<1>(few, seen, c, flip, start, sums + c);
  for (; c < channels; ++c) {
    sums[c] = start;
    for (int64_t r = 0; r < seen.count; ++r)
      for (int64_t p = 0; p < seen.rows[static_cast<size_t>(r)].pixels; ++p)
        sums[c] += seen.rows[static_cast<size_t>(r)].first[c + p * seen.pitch] ^ flip;
  }
}

}  // namespace byte_averages

void sum_byte_pixels(const SeenPixels& seen, int64_t channels, bool is_signed, int zero_point,
                     int32_t* sums) {
  byte_averages::sum_pixels(seen, channels, is_signed, zero_point, sums);
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(sum_byte_pixels);

namespace {

/// What the window sees of the channels from `channel` on.
void see(const ByteAverages& p, const uint8_t* x, const Positions& position, int64_t channel,
         SeenPixels& seen) {
  const Window& w = *p.images.window;
  const size_t last = w.rank() - 1;
  const int64_t start = position.start(last), step = w.dilations[last], channels = p.images.channels;
  const auto [begin, end] = inside_taps(w, start);
  const int64_t pixels = end - begin, at = start + begin * step;
  seen.count = seen.pixels = 0;
  seen.pitch = step * channels;
  if (pixels > 0)
    for_tap_rows(w, position, [&](int64_t, int64_t element) {
      if (element >= 0) seen.add(x + (element + at) * channels + channel, pixels);
    });
}

/// Positions whose windows have as many taps, from sums to results.
class AverageEnd {
 public:
  AverageEnd(const ByteAverages& averages, int64_t channels) : averages_(averages), channels_(channels) {}

  void run(int32_t* sums, int64_t positions, int64_t taps, char* y) {
    const float factor = averages_.scale / static_cast<float>(taps);
    if (!(factor_ == factor)) std::fill_n(factors_, channels_, factor);
    factor_ = factor;
    const int64_t all = averages_.images.channels;
    if (averages_.end != nullptr)
      return requantize({sums, channels_, positions, channels_}, {factors_, nullptr, *averages_.end, y, all});
    for (int64_t i = 0; i < positions; ++i)
      scale_sums(sums + i * channels_, channels_, factors_, nullptr, reinterpret_cast<float*>(y) + i * all);
  }

  static constexpr int64_t kMaxChannels = 1024;

 private:
  const ByteAverages& averages_;
  int64_t channels_;
  float factor_ = -1;
  float factors_[kMaxChannels];
};

/// At most AverageEnd::kMaxChannels channels.
void pool_channels(const ByteAverages& p, const uint8_t* x, int64_t first, int64_t count, int64_t channel,
                   int64_t channels, char* y) {
  constexpr int64_t kMaxSums = 8 * AverageEnd::kMaxChannels;
  int32_t sums[kMaxSums];
  AverageEnd end(p, channels);
  const int64_t together = kMaxSums / channels,
                width = p.images.channels * (p.end == nullptr ? static_cast<int64_t>(sizeof(float)) : 1);
  Positions position(*p.images.window, first);
  SeenPixels seen;
  int64_t waiting = 0, taps = 0;
  const auto finish = [&] {
    if (waiting > 0) end.run(sums, waiting, taps, y);
    y += waiting * width;
    waiting = 0;
  };
  for (int64_t i = 0; i < count; ++i, position.next()) {
    see(p, x, position, channel, seen);
    const int64_t of = p.counts_pads ? p.images.window->taps() : std::max<int64_t>(1, seen.pixels);
    if (of != taps || waiting == together) finish();
    taps = of;
    HWY_DYNAMIC_DISPATCH(sum_byte_pixels)
    (seen, channels, p.images.is_signed, p.images.zero_point, sums + waiting++ * channels);
  }
  finish();
}

}  // namespace

void byte_average_pool(const ByteAverages& averages, const void* x, int64_t first, int64_t count,
                       int64_t channel, int64_t channels, void* y) noexcept {
  const auto width = static_cast<int64_t>(averages.end == nullptr ? sizeof(float) : 1);
  for (int64_t c = 0; c < channels; c += AverageEnd::kMaxChannels)
    pool_channels(averages, static_cast<const uint8_t*>(x), first, count, channel + c,
                  std::min(AverageEnd::kMaxChannels, channels - c),
                  static_cast<char*>(y) + (channel + c) * width);
}

}  // namespace assay::kernels
#endif
