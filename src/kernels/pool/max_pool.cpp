#include "kernels/pool/max_pool.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/parallel.h"
#include "kernels/pool/window_rows.h"
#include "kernels/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/pool/max_pool.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {
namespace max_pool_rows {

/// Positions of a row whose places are kept at once.
constexpr int64_t kPlacesAtOnce = 512;

/// best[i] = the larger of it and x[i * stride], for i < count. kStride 0: `stride`.
template <int64_t kStride, typename T>
HWY_INLINE void take_larger(const T* x, int64_t stride, int64_t count, T* best) {
  const int64_t step = kStride != 0 ? kStride : stride;
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) {
    const T value = x[i * step];
    best[i] = value > best[i] || value != value ? value : best[i];
  }
}

/// The same, noting that x[i * stride] stands at `first` + i * stride.
template <int64_t kStride, typename T>
HWY_INLINE void take_larger_at(const T* x, int64_t stride, int64_t count, int32_t first, T* best,
                               int32_t* place) {
  const int64_t step = kStride != 0 ? kStride : stride;
  const auto step32 = static_cast<int32_t>(step);
#pragma omp simd
  for (int32_t i = 0; i < static_cast<int32_t>(count); ++i) {
    const T value = x[i * step];
    const bool better = (value > best[i]) | (value != value) | (place[i] < 0);
    best[i] = better ? value : best[i];
    place[i] = better ? first + i * step32 : place[i];
  }
}

template <int64_t kStride, typename T>
void pool_row(const Window& w, const WindowRow& row, const T* x, int64_t first, int64_t count, T* best,
              int32_t* place) {
  std::fill_n(best, count,
              std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                   : std::numeric_limits<T>::lowest());
  if (place != nullptr) std::fill_n(place, count, -1);
  const size_t last = w.rank() - 1;
  const int64_t stride = w.strides[last];
  for_each_window_line(w, row, [&](int64_t line) {
    const auto [tap, end] = taps_inside(w, last, first, first + count);
    for (int64_t t = tap; t < end; ++t) {
      const int64_t shift = t * w.dilations[last] - w.begin[last];
      const Range inside = positions_inside(w.in[last], w.out[last], stride, shift);
      const int64_t from = std::max(inside.first, first), to = std::min(inside.last, first + count);
      if (from >= to) continue;
      const int64_t at = line + from * stride + shift;
      if (place == nullptr)
        take_larger<kStride>(x + at, stride, to - from, best + from - first);
      else
        take_larger_at<kStride>(x + at, stride, to - from, static_cast<int32_t>(at), best + from - first,
                                place + from - first);
    }
  });
}

/// The same place of a plane counted with the first axis running fastest.
int64_t counted_by_columns(int64_t offset, const std::vector<int64_t>& extents) {
  int64_t out = 0, size = 1;
  for (const int64_t e : extents) size *= e;
  for (size_t d = extents.size(); d-- > 0; offset /= extents[d]) {
    size /= extents[d];
    out += offset % extents[d] * size;
  }
  return out;
}

template <typename T>
void pool_rows(const Window& w, int64_t first, int64_t last, const T* x, T* y, int64_t* places,
               bool by_columns) {
  const int64_t row_length = w.out.back(), rows = w.out_size() / row_length, plane = w.in_size();
  int32_t at[kPlacesAtOnce];
  for (int64_t r = first; r < last; ++r) {
    const WindowRow row = window_row(w, r % rows);
    const int64_t start = r / rows * plane;
    const int64_t at_once = places == nullptr ? row_length : kPlacesAtOnce;
    for (int64_t column = 0; column < row_length; column += at_once) {
      const int64_t count = std::min(at_once, row_length - column), to = r * row_length + column;
      int32_t* const place = places == nullptr ? nullptr : at;
      switch (w.strides.back()) {
        case 1:
          pool_row<1>(w, row, x + start, column, count, y + to, place);
          break;
        case 2:
          pool_row<2>(w, row, x + start, column, count, y + to, place);
          break;
        default:
          pool_row<0>(w, row, x + start, column, count, y + to, place);
          break;
      }
      for (int64_t i = 0; place != nullptr && i < count; ++i) {
        const int64_t in_plane = std::max(at[i], 0);
        places[to + i] = start + (by_columns && at[i] >= 0 ? counted_by_columns(in_plane, w.in) : in_plane);
      }
    }
  }
}

}  // namespace max_pool_rows

/// Rows [first, last) of the results, counted along all axes but the last.
void pool_maxima(const Window& w, DType type, int64_t first, int64_t last, const void* x, void* y,
                 int64_t* places, bool by_columns) {
  visit_number(type, [&](auto e) {
    using T = decltype(e);
    max_pool_rows::pool_rows(w, first, last, static_cast<const T*>(x), static_cast<T*>(y), places,
                             by_columns);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(pool_maxima);

void max_pool(const Window& window, DType type, int64_t planes, const void* x, void* y, int64_t* places,
              bool by_columns) noexcept {
  const int64_t row = window.out.back();
  if (row == 0) return;
  const int64_t rows = planes * (window.out_size() / row);
  constexpr int64_t kGrainOfMaxima = 4096;
  const int64_t work = row * std::min<int64_t>(window.taps(), 64);
  parallel_for(rows, std::max<int64_t>(1, kGrainOfMaxima / std::max<int64_t>(work, 1)),
               [&](int64_t first, int64_t last) {
                 HWY_DYNAMIC_DISPATCH(pool_maxima)(window, type, first, last, x, y, places, by_columns);
               });
}

}  // namespace assay::kernels
#endif
