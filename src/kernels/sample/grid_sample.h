// GridSample of float32 images of any number of dimensions.
#pragma once

#include <cstdint>
#include <vector>

namespace assay::kernels {

enum class GridMode : uint8_t { kNearest, kLinear, kCubic };
enum class GridEdge : uint8_t { kZeros, kBorder, kReflection };

/// The most elements that one point may combine.
inline constexpr int64_t kMaxGridTaps = 64;

struct GridSampling {
  GridMode mode = GridMode::kLinear;
  GridEdge edge = GridEdge::kZeros;
  bool align_corners = false;
  int64_t batch = 1, channels = 1;
  std::vector<int64_t> extents;  ///< of a plane, fewer than 2^31 elements and at least one
  int64_t points = 1;            ///< of the grid, for each entry of the batch

  int64_t plane() const;
  /// Elements that a point combines: one, or two or four along each axis.
  int64_t taps() const;
};

/// out [batch, channels, points] = image [batch, channels, extents...] at grid [batch, points, rank], whose
/// coordinates run from -1 to 1, innermost dimension first. taps() <= kMaxGridTaps. Places are computed in
/// float64 as the standard says, weights rounded to float32. Returns false when there is no memory.
bool grid_sample(const GridSampling& g, const float* image, const float* grid, float* out) noexcept;

}  // namespace assay::kernels
