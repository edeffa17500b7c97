// Separable resampling of the two inner dimensions of float32 images, and selection of pixels of any type.
#pragma once

#include <cstdint>
#include <vector>

namespace assay::kernels {

/// The most input positions that one output position may combine along an axis.
inline constexpr int64_t kMaxResizeTaps = 16;

/// One axis, taps <= kMaxResizeTaps: output position p is the sum over t < taps of weight[p * taps + t] *
/// input[index[p * taps + t]].
struct ResizeAxis {
  int64_t taps = 1;
  std::vector<int32_t> index;
  std::vector<float> weight;
  int64_t extent() const { return static_cast<int64_t>(index.size()) / taps; }
  /// One tap of weight 1 at every position.
  bool selects() const;
};

/// in [planes, in_height, in_width, inner] to out [planes, rows.extent(), columns.extent(), inner]; indices
/// are in [0, in_height) and [0, in_width).
void resize(const float* in, float* out, int64_t planes, int64_t in_height, int64_t in_width, int64_t inner,
            const ResizeAxis& rows, const ResizeAxis& columns) noexcept;

/// How quantized numbers become others: scale * (x - zero_point) is what is computed with.
struct ByteSteps {
  struct Side {
    bool is_signed;
    float scale;
    int zero_point;
  };
  Side from, to;
};

/// The same of 8-bit images whose results are quantized again: rounded once, from sums in float32.
void resize_bytes(const void* in, void* out, const ByteSteps& steps, int64_t planes, int64_t in_height,
                  int64_t in_width, int64_t inner, const ResizeAxis& rows,
                  const ResizeAxis& columns) noexcept;

/// The same of pixels of `pixel_bytes` bytes that are not computed with: both axes select.
void select_pixels(const void* in, void* out, int64_t planes, int64_t in_height, int64_t in_width,
                   int64_t pixel_bytes, const ResizeAxis& rows, const ResizeAxis& columns) noexcept;

}  // namespace assay::kernels
