#include "kernels/pool/fold_columns.h"

#include <algorithm>
#include <type_traits>

#include "base/parallel.h"
#include "kernels/pool/window_rows.h"

namespace assay::kernels {
namespace {

template <typename T>
void add_elements(const T* from, int64_t count, T* to, int64_t stride) {
  using Sum = std::conditional_t<std::is_floating_point_v<T>, T, uint64_t>;
  if (stride == 1) {
#pragma omp simd
    for (int64_t i = 0; i < count; ++i)
      to[i] = static_cast<T>(static_cast<Sum>(to[i]) + static_cast<Sum>(from[i]));
    return;
  }
  for (int64_t i = 0; i < count; ++i)
    to[i * stride] = static_cast<T>(static_cast<Sum>(to[i * stride]) + static_cast<Sum>(from[i]));
}

template <typename T>
void fold_plane(const Window& w, const T* columns, T* image) {
  const size_t inner = w.rank() - 1;
  const int64_t row = w.out[inner], rows = w.out_size() / row;
  std::fill_n(image, w.in_size(), T(0));
  const int64_t taps = w.taps();
  for (int64_t tap = 0; tap < taps; ++tap) {
    int64_t at[kMaxWindowAxes], rest = tap;
    for (size_t d = w.rank(); d-- > 0; rest /= w.kernel[d])
      at[d] = rest % w.kernel[d] * w.dilations[d] - w.begin[d];
    const Range inside = positions_inside(w.in[inner], row, w.strides[inner], at[inner]);
    if (inside.first >= inside.last) continue;
    for (int64_t r = 0; r < rows; ++r) {
      int64_t line = 0, size = 1, place = r;
      bool is_inside = true;
      for (size_t d = inner; d-- > 0; place /= w.out[d], size *= w.in[d]) {
        const int64_t i = place % w.out[d] * w.strides[d] + at[d];
        is_inside = is_inside && i >= 0 && i < w.in[d];
        line += i * size;
      }
      if (!is_inside) continue;
      add_elements(columns + (tap * rows + r) * row + inside.first, inside.last - inside.first,
                   image + line * w.in[inner] + inside.first * w.strides[inner] + at[inner],
                   w.strides[inner]);
    }
  }
}

}  // namespace

void fold_columns(const Window& w, DType type, int64_t planes, const void* columns, void* image) noexcept {
  const int64_t plane = w.in_size(), block = w.taps() * w.out_size();
  visit_number(type, [&](auto e) {
    using T = decltype(e);
    parallel_for(planes, std::max<int64_t>(1, 8192 / (block + 1)), [&](int64_t first, int64_t last) {
      for (int64_t p = first; p < last; ++p)
        fold_plane(w, static_cast<const T*>(columns) + p * block, static_cast<T*>(image) + p * plane);
    });
  });
}

}  // namespace assay::kernels
