#include "kernels/kn2row_conv/kn2row_conv.h"

#include <algorithm>
#include <array>

namespace assay::kernels {
namespace {

/// Rows of weights that are worked through for all parts before the next ones: with the columns of a group of
/// panels they stay in the second-level cache.
constexpr int64_t kTapDepth = 256;

/// Results that one tap adds to, in a part: every `step`-th from `first` on, from pixels `apart` from each
/// other.
struct TapRun {
  const float* pixels;
  int64_t apart;  ///< in elements
  int64_t first, step, count;
};

/// Floor and ceiling of a / b for b > 0 and any a.
int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }
int64_t ceil_div(int64_t a, int64_t b) { return -floor_div(-a, b); }

/// The pixel, along one axis, that tap t of the result at o reads; -1 for none.
int64_t pixel_of(const Kn2rowConv& conv, size_t axis, int64_t o, int64_t t) {
  const Window& w = conv.window;
  if (!conv.transposed) {
    const int64_t at = o * w.strides[axis] + t * w.dilations[axis] - w.begin[axis];
    return at >= 0 && at < w.in[axis] ? at : -1;
  }
  const int64_t scaled = o + w.begin[axis] - t * w.dilations[axis];
  if (scaled < 0 || scaled % w.strides[axis] != 0 || scaled / w.strides[axis] >= w.out[axis]) return -1;
  return scaled / w.strides[axis];
}

/// The row of the image whose pixels a row of results sees at the taps `tap` of the axes before the last; -1
/// for none.
int64_t image_row(const Kn2rowConv& conv, int64_t row, const int64_t* tap) {
  const std::vector<int64_t>&result = conv.result(), &image = conv.image();
  int64_t source = 0, scale = 1;
  for (size_t a = conv.window.rank() - 1; a-- > 0; row /= result[a]) {
    const int64_t at = pixel_of(conv, a, row % result[a], tap[a]);
    if (at < 0) return -1;
    source += at * scale;
    scale *= image[a];
  }
  return source + row * scale;
}

/// What tap t of the last axis adds to a part whose pixels lie in this row of the image.
TapRun run_of(const Kn2rowConv& conv, const float* pixels, const Kn2rowPart& part, int64_t t) {
  const Window& w = conv.window;
  const size_t last = w.rank() - 1;
  const int64_t stride = w.strides[last], shift = t * w.dilations[last] - w.begin[last];
  // Results with pixels, or pixels with results: [first, end).
  const int64_t extent = conv.image()[last], to = part.first + part.count;
  if (conv.transposed) {
    const int64_t first = std::max<int64_t>(0, ceil_div(part.first - shift, stride)),
                  end = std::min(extent, ceil_div(to - shift, stride));
    if (end <= first) return {};
    return {pixels + first * conv.channels, conv.channels, first * stride + shift - part.first, stride,
            end - first};
  }
  const int64_t first = std::max(part.first, ceil_div(-shift, stride)),
                end = std::min(to, floor_div(extent - 1 - shift, stride) + 1);
  if (end <= first) return {};
  return {pixels + (first * stride + shift) * conv.channels, stride * conv.channels, first - part.first, 1,
          end - first};
}

}  // namespace

int64_t Kn2rowConv::products() const {
  int64_t all = 1;
  for (size_t a = 0; a < window.rank(); ++a) {
    int64_t along = 0;
    for (int64_t t = 0; t < window.kernel[a]; ++t) {
      const Range inside = positions_inside(window.in[a], window.out[a], window.strides[a],
                                            t * window.dilations[a] - window.begin[a]);
      along += inside.last - inside.first;
    }
    all *= along;
  }
  return all;
}

void kn2row_products(const Kn2rowConv& conv, const PanelMatrix& matrix, const float* packed, int64_t panel,
                     int64_t panels, const float* x, const Kn2rowPart* parts, int64_t count,
                     const float* bias, float* sums, int64_t part_stride, int64_t stride) noexcept {
  constexpr size_t kMaxAxes = 3;
  const Window& w = conv.window;
  const size_t last = w.rank() - 1;
  const int64_t row_elements = conv.image()[last] * conv.channels, panel_elements = matrix.panel_bytes() / 4,
                columns = panels * kPanelColumns;
  for (int64_t p = 0; p < count; ++p)
    for (int64_t r = 0; r < parts[p].count; ++r) {
      float* const to = sums + p * part_stride + r * stride;
      bias == nullptr ? std::fill_n(to, columns, 0.0F) : std::copy_n(bias, columns, to);
    }
  std::array<int64_t, kMaxAxes> tap{};
  const int64_t taps = w.taps();
  for (int64_t t = 0; t < taps; ++t) {
    std::array<TapRun, kMaxKn2rowParts> runs;
    bool any = false;
    for (int64_t p = 0; p < count; ++p) {
      const int64_t row = image_row(conv, parts[p].row, tap.data());
      TapRun& run = runs[static_cast<size_t>(p)];
      run = row < 0 ? TapRun{} : run_of(conv, x + row * row_elements, parts[p], tap[last]);
      any = any || run.count > 0;
    }
    const float* const weights = packed + panel * panel_elements + t * conv.channels * kPanelColumns;
    for (int64_t c = 0; any && c < conv.channels; c += kTapDepth) {
      const PanelBlock block{weights + c * kPanelColumns, panel_elements, panels,
                             std::min(kTapDepth, conv.channels - c)};
      for (int64_t p = 0; p < count; ++p) {
        const TapRun& run = runs[static_cast<size_t>(p)];
        float* const to = sums + p * part_stride + run.first * stride;
        if (run.count > 0)
          panel_block_product(block, {run.pixels + c, run.apart}, run.count, to, run.step * stride, to,
                              run.step * stride);
      }
    }
    for (size_t a = w.rank(); a-- > 0;) {
      if (++tap[a] < w.kernel[a]) break;
      tap[a] = 0;
    }
  }
}

}  // namespace assay::kernels
