// Convolution as a product: the rows of its left operand, one for each position of the window, gathered from
// images with channels last.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "kernels/conv.h"

namespace assay::kernels {

/// The layout of images, pixel by pixel: channels of a block next to each other, then the pixels of an
/// image, then the blocks. One block of all channels: channels last.
struct ImagePlaces {
  int64_t channels = 0, pixels = 0, block = 0;

  /// A channel of a pixel, which is counted over all images.
  int64_t of(int64_t pixel, int64_t channel) const {
    return (pixel / pixels * channels + channel / block * block) * pixels + pixel % pixels * block +
           channel % block;
  }
  int64_t block_distance() const { return pixels * block; }

  /// Calls copy(from, count, to) for the channels of `count` pixels of an image from `pixel` on, which go to
  /// [count, channels].
  template <typename T, typename Copy>
  void read(const float* x, int64_t pixel, int64_t count, T* to, Copy copy) const {
    const float* const first = x + of(pixel, 0);
    if (block == channels) return copy(first, count * channels, to);
    for (int64_t i = 0; i < count; ++i)
      for (int64_t c = 0; c < channels; c += block)
        copy(first + i * block + c * pixels, block, to + i * channels + c);
  }
};

/// Walks the positions of a window of up to three axes over all images in row-major order.
class Positions {
 public:
  Positions(const Window& w, int64_t first) : w_(w), image_(first / w.out_size()) {
    int64_t rest = first % w.out_size();
    for (size_t a = w.rank(); a-- > 0; rest /= w.out[a]) at_[a] = rest % w.out[a];
  }
  void next() {
    for (size_t a = w_.rank(); a-- > 0;) {
      if (++at_[a] < w_.out[a]) return;
      at_[a] = 0;
    }
    ++image_;
  }
  int64_t image() const { return image_; }
  /// The position of tap 0 along an axis, in elements of the image.
  int64_t start(size_t axis) const { return at_[axis] * w_.strides[axis] - w_.begin[axis]; }

  static constexpr size_t kMaxAxes = 3;

 private:
  const Window& w_;
  int64_t image_;
  std::array<int64_t, kMaxAxes> at_{};
};

/// Calls visit(tap, element) for every row of taps along the last axis at the position: the number of its
/// first tap, and the element of the image (without channels) that this tap would read, or -1 where the row
/// is outside along another axis.
template <typename Visit>
void for_tap_rows(const Window& w, const Positions& p, Visit visit) {
  const size_t last = w.rank() - 1;
  std::array<int64_t, Positions::kMaxAxes> tap{};
  for (int64_t number = 0, rows = w.taps() / w.kernel[last]; rows > 0; --rows, number += w.kernel[last]) {
    int64_t element = p.image();
    bool inside = true;
    for (size_t a = 0; a < last; ++a) {
      const int64_t at = p.start(a) + tap[a] * w.dilations[a];
      inside = inside && at >= 0 && at < w.in[a];
      element = element * w.in[a] + at;
    }
    visit(number, inside ? element * w.in[last] : -1);
    for (size_t a = last; a-- > 0;) {
      if (++tap[a] < w.kernel[a]) break;
      tap[a] = 0;
    }
  }
}

/// Taps [first, second) of a row of taps along the last axis that are inside.
inline std::pair<int64_t, int64_t> inside_taps(const Window& w, int64_t start) {
  const size_t last = w.rank() - 1;
  const int64_t step = w.dilations[last];
  const int64_t first = start >= 0 ? 0 : (-start + step - 1) / step;
  const int64_t end = start >= w.in[last] ? 0 : (w.in[last] - start + step - 1) / step;
  return {std::min(first, w.kernel[last]),
          std::clamp<int64_t>(end, std::min(first, w.kernel[last]), w.kernel[last])};
}

/// Writes the rows of the positions [first, first + count): taps in row-major order, `channels` numbers each,
/// `outside` outside the image, and 0 from there to `length`. Rows are `pitch` apart, or `length` where that
/// is 0. copy(pixel, n, to) writes the channels of n pixels that follow each other.
template <typename T, typename Copy>
void gather_rows(const Window& w, int64_t channels, int64_t first, int64_t count, int64_t length, T* rows,
                 Copy copy, T outside = {}, int64_t pitch = 0) {
  const size_t last = w.rank() - 1;
  const int64_t depth = w.taps() * channels;
  Positions position(w, first);
  for (int64_t r = 0; r < count; ++r, rows += pitch == 0 ? length : pitch, position.next()) {
    const int64_t start = position.start(last);
    const auto [begin, end] = inside_taps(w, start);
    for_tap_rows(w, position, [&](int64_t tap, int64_t element) {
      T* const to = rows + tap * channels;
      if (element < 0 || begin >= end) {
        std::fill_n(to, w.kernel[last] * channels, outside);
        return;
      }
      std::fill_n(to, begin * channels, outside);
      if (w.dilations[last] == 1)
        copy(element + start + begin, end - begin, to + begin * channels);
      else
        for (int64_t t = begin; t < end; ++t)
          copy(element + start + t * w.dilations[last], 1, to + t * channels);
      std::fill_n(to + end * channels, (w.kernel[last] - end) * channels, outside);
    });
    std::fill(rows + depth, rows + length, T{0});
  }
}

}  // namespace assay::kernels
