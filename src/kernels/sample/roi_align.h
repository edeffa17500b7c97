// RoiAlign of float32 images.
#pragma once

#include <cstdint>

namespace assay::kernels {

struct RoiAligning {
  int64_t batch, channels, height, width;
  int64_t rois, out_height, out_width;
  int64_t ratio;  ///< points along each axis of a cell; 0: as many as the cell has elements
  float scale;
  bool half_pixel, largest;
};

/// The largest `ratio`.
inline constexpr int64_t kMaxRoiRatio = 1024;

/// Whether a region may be sampled at `rows` times `columns` points in each of its `cells` cells: at no more
/// than 2^20 of them, or than a plane of the image has elements where that is more, and at 2^24 in one row of
/// points of all cells. None of them is negative.
bool roi_points_fit(int64_t rows, int64_t columns, int64_t cells, int64_t plane) noexcept;

enum class RoiStatus : uint8_t { kOk, kBadImage, kTooLarge, kOutOfMemory };

/// out [rois, channels, out_height, out_width] = the mean (or the largest weighted neighbour) at points in
/// the cells of each region. regions [rois, 4]: x1, y1, x2, y2; images [rois] within [0, batch). The extents
/// are at least 1, and a plane has fewer than 2^31 elements.
RoiStatus roi_align(const RoiAligning& a, const float* x, const float* regions, const int64_t* images,
                    float* out) noexcept;

}  // namespace assay::kernels
