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

enum class RoiStatus : uint8_t { kOk, kBadImage, kTooLarge, kOutOfMemory };

/// out [rois, channels, out_height, out_width] = the mean (or the largest weighted neighbour) at points in
/// the cells of each region. regions [rois, 4]: x1, y1, x2, y2; images [rois] within [0, batch). The extents
/// are at least 1, and a plane has fewer than 2^31 elements.
RoiStatus roi_align(const RoiAligning& a, const float* x, const float* regions, const int64_t* images,
                    float* out) noexcept;

}  // namespace assay::kernels
