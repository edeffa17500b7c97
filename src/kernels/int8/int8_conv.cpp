#include "kernels/int8/int8_conv.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "kernels/int8/int8_product.h"
#include "kernels/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/int8/int8_conv.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using F = hn::ScalableTag<float>;

/// sums[c] += (x[c] - zero_point) * w[c]
template <typename T>
HWY_INLINE void add_tap(const T* x, float zero_point, const float* w, float* sums, int64_t channels) {
  const F f;
  const hn::Rebind<T, F> narrow;
  const hn::RebindToSigned<F> i32;
  const auto lanes = static_cast<int64_t>(hn::Lanes(f));
  const auto zero = hn::Set(f, zero_point);
  int64_t c = 0;
  for (; c + lanes <= channels; c += lanes) {
    const auto v = hn::Sub(hn::ConvertTo(f, hn::PromoteTo(i32, hn::LoadU(narrow, x + c))), zero);
    hn::StoreU(hn::MulAdd(v, hn::LoadU(f, w + c), hn::LoadU(f, sums + c)), f, sums + c);
  }
  for (; c < channels; ++c) sums[c] += (static_cast<float>(x[c]) - zero_point) * w[c];
}

void add_taps(bool is_signed, const void* x, float zero_point, const float* w, float* sums,
              int64_t channels) {
  if (is_signed)
    add_tap(static_cast<const int8_t*>(x), zero_point, w, sums, channels);
  else
    add_tap(static_cast<const uint8_t*>(x), zero_point, w, sums, channels);
}

/// Whole numbers, in place.
void floats_to_integers(int32_t* numbers, int64_t count) {
  const F f;
  const hn::RebindToSigned<F> i32;
  const auto lanes = static_cast<int64_t>(hn::Lanes(f));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(hn::NearestInt(hn::BitCast(f, hn::LoadU(i32, numbers + i))), i32, numbers + i);
  for (; i < count; ++i) {
    float x;
    std::memcpy(&x, numbers + i, sizeof x);
    numbers[i] = static_cast<int32_t>(x);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(add_taps);
HWY_EXPORT(floats_to_integers);

namespace {

constexpr size_t kMaxAxes = 3;

/// Walks the positions of a window in row-major order.
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
  /// Where tap 0 lies along an axis, in elements of the image.
  int64_t start(size_t axis) const { return at_[axis] * w_.strides[axis] - w_.begin[axis]; }

 private:
  const Window& w_;
  int64_t image_;
  std::array<int64_t, kMaxAxes> at_{};
};

/// Calls visit(tap, element) for every row of taps along the last axis at the position: the number of its
/// first tap, and the element of the image (without channels) that this tap would read, or -1 where the row
/// lies outside along another axis.
template <typename Visit>
void for_tap_rows(const Window& w, const Positions& p, Visit visit) {
  const size_t last = w.rank() - 1;
  std::array<int64_t, kMaxAxes> tap{};
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

/// Taps [first, second) of a row of taps along the last axis that lie inside.
std::pair<int64_t, int64_t> inside_taps(const Window& w, int64_t start) {
  const size_t last = w.rank() - 1;
  const int64_t step = w.dilations[last];
  const int64_t first = start >= 0 ? 0 : (-start + step - 1) / step;
  const int64_t end = start >= w.in[last] ? 0 : (w.in[last] - start + step - 1) / step;
  return {std::min(first, w.kernel[last]),
          std::clamp<int64_t>(end, std::min(first, w.kernel[last]), w.kernel[last])};
}

}  // namespace

void gather_int8_rows(const Int8Images& images, const void* x, int64_t first, int64_t count,
                      int16_t* rows) noexcept {
  const Window& w = *images.window;
  const size_t last = w.rank() - 1;
  const int64_t c = images.channels, length = int8_row_length(images.depth());
  const auto* const pixels = static_cast<const char*>(x);
  const auto widen = [&](int64_t element, int64_t n, int16_t* to) {
    widen_int8(pixels + element * c, images.is_signed, images.zero_point, to, n * c);
  };
  Positions position(w, first);
  for (int64_t r = 0; r < count; ++r, rows += length, position.next()) {
    const int64_t start = position.start(last);
    const auto [begin, end] = inside_taps(w, start);
    for_tap_rows(w, position, [&](int64_t tap, int64_t element) {
      int16_t* const to = rows + tap * c;
      if (element < 0 || begin >= end) {
        std::fill_n(to, w.kernel[last] * c, int16_t{0});
        return;
      }
      std::fill_n(to, begin * c, int16_t{0});
      if (w.dilations[last] == 1)
        widen(element + start + begin, end - begin, to + begin * c);
      else
        for (int64_t t = begin; t < end; ++t) widen(element + start + t * w.dilations[last], 1, to + t * c);
      std::fill_n(to + end * c, (w.kernel[last] - end) * c, int16_t{0});
    });
    std::fill(rows + images.depth(), rows + length, int16_t{0});
  }
}

void depthwise_int8(const Int8Images& images, const void* x, const float* weights, int64_t first,
                    int64_t count, int32_t* sums) noexcept {
  const Window& w = *images.window;
  const size_t last = w.rank() - 1;
  const int64_t c = images.channels;
  const auto* const pixels = static_cast<const char*>(x);
  const auto add = HWY_DYNAMIC_DISPATCH(add_taps);
  Positions position(w, first);
  const auto store = HWY_DYNAMIC_DISPATCH(floats_to_integers);
  for (int64_t r = 0; r < count; ++r, sums += c, position.next()) {
    // float32 numbers until all taps are in.
    auto* const y = reinterpret_cast<float*>(sums);
    std::fill_n(y, c, 0.0F);
    const int64_t start = position.start(last);
    const auto [begin, end] = inside_taps(w, start);
    for_tap_rows(w, position, [&](int64_t tap, int64_t element) {
      if (element < 0) return;
      for (int64_t t = begin; t < end; ++t)
        add(images.is_signed, pixels + (element + start + t * w.dilations[last]) * c,
            static_cast<float>(images.zero_point), weights + (tap + t) * c, y, c);
    });
    store(sums, c);
  }
}

}  // namespace assay::kernels
#endif
