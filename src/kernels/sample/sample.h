// Weighted elements of planes at irregular positions, as GridSample, RoiAlign and DeformConv read an image.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace assay::kernels {

/// How the elements that a point reads become one.
enum class SampleJoin : uint8_t {
  kSum,
  /// The largest weighted one of each four, and of these the largest, as RoiAlign's max has it: a four that
  /// reads nothing counts 0, and a NaN is skipped unless it is the first of its four.
  kLargest,
};

/// The elements that `points` points read: point p's number t is at index[t * stride + p], counted within a
/// plane, and counts weight[t * stride + p]. A negative index reads nothing: it adds 0 whatever the plane
/// holds. Both vectors have taps * stride elements.
struct Samples {
  int64_t points = 0, taps = 0;
  int64_t stride = 0;  ///< points, padded to whole vectors
  std::vector<int32_t> index;
  std::vector<float> weight;

  /// Makes room, every index negative. Throws std::bad_alloc.
  void reset(int64_t new_points, int64_t new_taps);
  void set(int64_t tap, int64_t point, int64_t at, float w) {
    index[static_cast<size_t>(tap * stride + point)] = static_cast<int32_t>(at);
    weight[static_cast<size_t>(tap * stride + point)] = w;
  }
};

/// out[c * out_stride + p] = what point p reads of plane c; with `goes_on` it is combined with the values
/// already there. Indices are within a plane of fewer than 2^31 elements.
void sample_planes(const Samples& samples, SampleJoin join, bool goes_on, const float* planes,
                   int64_t channels, int64_t plane, float* out, int64_t out_stride) noexcept;

}  // namespace assay::kernels
