#include "kernels/int8/int8_conv.h"

#include <algorithm>
#include <cstring>

#include "kernels/image_rows.h"
#include "kernels/int8/int8_product.h"
#include "kernels/int8/vnni_depthwise.h"
#include "kernels/native_kernels.h"
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

/// Longest vector that rows are written in, in bytes.
constexpr int64_t kMaxGathered = 64;

/// Rows of positions along the last axis whose windows lie inside the image: pieces of `bytes` each, which
/// begin at the offsets from the first.
struct InsideRows {
  int64_t offsets[kMaxInt8Taps];
  int64_t pieces = 0, bytes = 0;
  int64_t step = 0;    ///< from a position to the next one, in bytes of the image
  int64_t length = 0;  ///< of a row
  bool is_signed = false;
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

/// to[i] = from[i] with the sign bits of `flip` turned, in whole vectors of D: writes and reads up to a
/// vector less one byte beyond `count`.
template <typename D>
HWY_INLINE void copy_vectors(D d, const uint8_t* from, hn::Vec<D> flip, uint8_t* to, int64_t count) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = 0; i < count; i += lanes) hn::StoreU(hn::Xor(hn::LoadU(d, from + i), flip), d, to + i);
}

template <typename D>
HWY_INLINE int64_t gather_row(D d, const InsideRows& g, const uint8_t* from, int64_t count, uint8_t* to,
                              const uint8_t* end) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto flip = hn::Set(d, static_cast<uint8_t>(g.is_signed ? 128 : 0));
  int64_t r = 0;
  // A vector that reaches beyond its piece is overwritten by the next piece, or the next row.
  for (; r < count && to + g.length + lanes <= end; ++r, from += g.step, to += g.length) {
    for (int64_t p = 0; p < g.pieces; ++p)
      copy_vectors(d, from + g.offsets[p], flip, to + p * g.bytes, g.bytes);
    for (int64_t i = g.pieces * g.bytes; i < g.length; ++i) to[i] = 0;
  }
  return r;
}

/// Writes rows of positions that follow each other, as many as do not reach beyond `end`; their number.
int64_t gather_inside(const InsideRows& g, const uint8_t* from, int64_t count, uint8_t* to,
                      const uint8_t* end) {
  const hn::CappedTag<uint8_t, 32> small;
  if (g.bytes <= static_cast<int64_t>(hn::Lanes(small))) return gather_row(small, g, from, count, to, end);
  return gather_row(hn::CappedTag<uint8_t, kMaxGathered>(), g, from, count, to, end);
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(sum_all_taps);

HWY_EXPORT(gather_inside);

namespace {

/// All channels in one group, row by row of positions.
class RowGatherer {
 public:
  RowGatherer(const Int8Images& images, const void* x, uint8_t* rows_end)
      : images_(images),
        w_(*images.window),
        last_(w_.rank() - 1),
        pixels_(static_cast<const uint8_t*>(x)),
        rows_end_(rows_end),
        outside_(static_cast<uint8_t>(images.zero_point + (images.is_signed ? 128 : 0))) {
    inside_.pieces = w_.taps() / w_.kernel[last_];
    inside_.bytes = w_.kernel[last_] * images.channels;
    inside_.step = w_.strides[last_] * images.channels;
    inside_.length = int8_row_length(images.depth());
    inside_.is_signed = images.is_signed;
    // Of positions along the last axis: the first one that lies inside, and the one behind the last.
    first_ = std::min((w_.begin[last_] + w_.strides[last_] - 1) / w_.strides[last_], w_.out[last_]);
    const int64_t room = w_.in[last_] + w_.begin[last_] - w_.reach(last_);
    behind_ = room < 0 ? first_ : std::clamp(room / w_.strides[last_] + 1, first_, w_.out[last_]);
    if (w_.dilations[last_] != 1 || inside_.pieces > kMaxInt8Taps) behind_ = first_;
  }

  /// The positions [first, first + count), to `rows`.
  void run(int64_t first, int64_t count, uint8_t* rows) {
    while (count > 0) {
      const int64_t at = first % w_.out[last_];
      int64_t done = 0;
      if (at >= first_ && at < behind_) done = inside(first, std::min(count, behind_ - at), rows);
      // One by one to where the windows lie inside, or through the row.
      if (done == 0) {
        done = std::min(count, at < first_ ? first_ - at : w_.out[last_] - at);
        one_by_one(first, done, rows);
      }
      first += done;
      count -= done;
      rows += done * inside_.length;
    }
  }

 private:
  /// How many were written: none where a window lies outside along another axis, or the end is near.
  int64_t inside(int64_t first, int64_t count, uint8_t* rows) {
    const Positions position(w_, first);
    const uint8_t* begin = nullptr;
    bool all_inside = true;
    int64_t piece = 0;
    for_tap_rows(w_, position, [&](int64_t, int64_t element) {
      all_inside = all_inside && element >= 0;
      const uint8_t* const from = pixels_ + (element + position.start(last_)) * images_.channels;
      if (piece == 0) begin = from;
      inside_.offsets[piece++] = from - begin;
    });
    if (!all_inside) return 0;
    // The last vectors of a piece may reach beyond it, but not beyond the image.
    const uint8_t* const end = pixels_ + (position.image() + 1) * w_.in_size() * images_.channels;
    const int64_t reach = inside_.offsets[piece - 1] + inside_.bytes + kMaxGathered;
    if (begin + reach > end) return 0;
    count = std::min(count, (end - begin - reach) / inside_.step + 1);
    return HWY_DYNAMIC_DISPATCH(gather_inside)(inside_, begin, count, rows, rows_end_);
  }

  void one_by_one(int64_t first, int64_t count, uint8_t* rows) {
    gather_rows(
        w_, images_.channels, first, count, inside_.length, rows,
        [&](int64_t pixel, int64_t n, uint8_t* to) {
          to_unsigned_quantized(pixels_ + pixel * images_.channels, images_.is_signed, to,
                                n * images_.channels);
        },
        outside_);
  }

  const Int8Images& images_;
  const Window& w_;
  size_t last_;
  const uint8_t* pixels_;
  uint8_t* rows_end_;
  uint8_t outside_;
  int64_t first_ = 0, behind_ = 0;
  InsideRows inside_;
};

}  // namespace

void gather_int8_rows(const Int8Images& images, const void* x, int64_t first, int64_t count,
                      uint8_t* rows) noexcept {
  const int64_t channels = images.channels, own = channels / images.groups;
  const int64_t length = int8_row_length(images.depth());
  if (images.groups == 1) return RowGatherer(images, x, rows + count * length).run(first, count, rows);
  const auto outside = static_cast<uint8_t>(images.zero_point + (images.is_signed ? 128 : 0));
  const auto* const pixels = static_cast<const uint8_t*>(x);
  for (int64_t g = 0; g < images.groups; ++g)
    gather_rows(
        *images.window, own, first, count, length, rows + g * length,
        [&](int64_t pixel, int64_t n, uint8_t* to) {
          for (int64_t i = 0; i < n; ++i)
            to_unsigned_quantized(pixels + (pixel + i) * channels + g * own, images.is_signed, to + i * own,
                                  own);
        },
        outside, images.groups * length);
}

namespace {

/// The parts of packed weights: numbers, sums of each channel's taps, fours, and whether these are meant.
struct DepthwiseParts {
  int64_t tap_sums, fours, fits, end;

  explicit DepthwiseParts(const DepthwiseWeights& w) {
    const int64_t filled = (w.channels + kVnniChannels - 1) / kVnniChannels * kVnniChannels;
    tap_sums = w.taps * w.channels * 4;
    fours = tap_sums + filled * 4;
    fits = fours + vnni_taps_bytes(w.taps, w.channels);
    end = fits + 4;
  }

  bool takes_vnni(const char* packed) const {
    int32_t all_fit = 0;
    std::memcpy(&all_fit, packed + fits, sizeof all_fit);
    return all_fit != 0 && native_kernels().depthwise != nullptr;
  }
  const int8_t* fours_of(const char* packed) const { return reinterpret_cast<const int8_t*>(packed + fours); }
  const int32_t* tap_sums_of(const char* packed) const {
    return reinterpret_cast<const int32_t*>(packed + tap_sums);
  }
};

void depthwise_floats(const Int8Images& images, const void* x, const float* weights, int64_t first,
                      int64_t count, int32_t* sums) {
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

}  // namespace

int64_t DepthwiseWeights::bytes() const { return DepthwiseParts(*this).end; }

void pack_int8_depthwise(const DepthwiseWeights& weights, const int16_t* numbers, void* packed) noexcept {
  const DepthwiseParts parts(weights);
  auto* const to = static_cast<char*>(packed);
  std::memset(to, 0, static_cast<size_t>(parts.end));
  auto* const floats = reinterpret_cast<float*>(to);
  auto* const sums = reinterpret_cast<int32_t*>(to + parts.tap_sums);
  int32_t fits = 1;
  for (int64_t t = 0; t < weights.taps; ++t)
    for (int64_t c = 0; c < weights.channels; ++c) {
      const int16_t number = numbers[t * weights.channels + c];
      floats[t * weights.channels + c] = number;
      sums[c] += number;
      if (number < -128 || number > 127) fits = 0;
    }
  if (fits != 0)
    pack_vnni_taps(numbers, weights.taps, weights.channels,
                   vnni_taps_of(weights.taps, weights.columns, weights.dilation),
                   reinterpret_cast<int8_t*>(to + parts.fours));
  std::memcpy(to + parts.fits, &fits, sizeof fits);
}

void int8_depthwise(const Int8Images& images, const void* x, const void* packed, int64_t first, int64_t count,
                    int32_t* sums) noexcept {
  const DepthwiseParts parts(DepthwiseWeights::of(*images.window, images.channels));
  const auto* const from = static_cast<const char*>(packed);
  if (parts.takes_vnni(from))
    return native_kernels().depthwise(images, x, parts.fours_of(from), parts.tap_sums_of(from), first, count,
                                      sums);
  depthwise_floats(images, x, reinterpret_cast<const float*>(from), first, count, sums);
}

void int8_depthwise_quantized(const Int8Images& images, const void* x, const void* packed, int64_t first,
                              int64_t count, int32_t* sums, int64_t sum_rows,
                              const QuantizedEpilogue& end) noexcept {
  const DepthwiseParts parts(DepthwiseWeights::of(*images.window, images.channels));
  const auto* const from = static_cast<const char*>(packed);
  if (parts.takes_vnni(from) &&
      native_kernels().depthwise_quantized(images, x, parts.fours_of(from), parts.tap_sums_of(from), first,
                                           count, end))
    return;
  for (int64_t r = 0; r < count; r += sum_rows) {
    const int64_t rows = std::min(sum_rows, count - r);
    int8_depthwise(images, x, packed, first + r, rows, sums);
    requantize({sums, images.channels, rows, images.channels}, end.at(r, 0));
  }
}

}  // namespace assay::kernels
#endif
