// Walks of a window along whole rows of its positions: the inner axis is left to the caller's loop.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/conv.h"

namespace assay::kernels {

inline constexpr size_t kMaxWindowAxes = 8;

/// Taps [first, last) of an axis that are in the image for some position of [begin, end).
inline Range taps_inside(const Window& w, size_t axis, int64_t begin, int64_t end) {
  const int64_t dilation = w.dilations[axis], pad = w.begin[axis];
  const int64_t lowest = pad - (end - 1) * w.strides[axis],
                beyond = w.in[axis] + pad - begin * w.strides[axis];
  const int64_t first = lowest <= 0 ? 0 : (lowest + dilation - 1) / dilation;
  const int64_t last = beyond <= 0 ? 0 : (beyond + dilation - 1) / dilation;
  return {std::min(first, w.kernel[axis]), std::clamp<int64_t>(last, 0, w.kernel[axis])};
}

/// A position on every axis but the inner one, and the taps of each that are in the image.
struct WindowRow {
  int64_t position[kMaxWindowAxes];
  Range taps[kMaxWindowAxes];
};

/// Number `row` in row-major order. w.rank() <= kMaxWindowAxes.
inline WindowRow window_row(const Window& w, int64_t row) {
  WindowRow r{};
  for (size_t d = w.rank() - 1; d-- > 0; row /= w.out[d]) {
    r.position[d] = row % w.out[d];
    r.taps[d] = taps_inside(w, d, r.position[d], r.position[d] + 1);
  }
  return r;
}

/// Calls fn(where the line of the image begins in its plane) for the lines that the window reads, in order.
template <typename Fn>
void for_each_window_line(const Window& w, const WindowRow& row, Fn fn) {
  const size_t outer = w.rank() - 1;
  int64_t tap[kMaxWindowAxes];
  for (size_t d = 0; d < outer; ++d) {
    tap[d] = row.taps[d].first;
    if (tap[d] >= row.taps[d].last) return;
  }
  for (;;) {
    int64_t line = 0;
    for (size_t d = 0; d < outer; ++d)
      line = line * w.in[d] + row.position[d] * w.strides[d] - w.begin[d] + tap[d] * w.dilations[d];
    fn(line * w.in[outer]);
    size_t d = outer;
    for (;;) {
      if (d-- == 0) return;
      if (++tap[d] < row.taps[d].last) break;
      tap[d] = row.taps[d].first;
    }
  }
}

}  // namespace assay::kernels
