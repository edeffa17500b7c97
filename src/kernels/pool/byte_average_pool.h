// AveragePool of 8-bit integers with channels last.
#pragma once

#include <cstdint>

#include "kernels/conv.h"
#include "kernels/int8/int8_images.h"
#include "kernels/int8/requantize.h"

namespace assay::kernels {

/// Averages of windows of dequantized numbers: scale * (x - zero_point). The images' groups do not matter.
struct ByteAverages {
  Int8Images images;
  float scale;
  bool counts_pads;           ///< taps outside the image are zeros; otherwise they do not count
  const Requantization* end;  ///< null: results are float32
};

/// y [positions, images.channels] = the average of each of the channels [channel, channel + channels) in the
/// window of each of the positions [first, first + count), counted over all images of x [images, in...,
/// channels] in row-major order; `y` is where the first position goes, channel 0 included. Sums are exact, of
/// at most kMaxByteTaps pixels; every window has some. One to three axes, and at most kMaxByteRows rows that
/// do not follow each other in memory.
void byte_average_pool(const ByteAverages& averages, const void* x, int64_t first, int64_t count,
                       int64_t channel, int64_t channels, void* y) noexcept;

/// So many numbers of 9 bits have a sum of 32.
inline constexpr int64_t kMaxByteTaps = int64_t{1} << 22;

}  // namespace assay::kernels
