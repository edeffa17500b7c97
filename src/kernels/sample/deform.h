// The columns of a deformable convolution of float32 images, which its weights multiply.
#pragma once

#include <cstdint>

#include "kernels/conv.h"

namespace assay::kernels {

/// One image, whose plane has fewer than 2^31 elements.
struct Deforming {
  Window window;  ///< of any rank up to kMaxDeformedAxes
  int64_t channels = 1;
  int64_t offset_groups = 1;  ///< divide the channels, which share offsets and mask in runs
};
inline constexpr int64_t kMaxDeformedAxes = 4;

/// columns [channels, taps, positions] = the elements of x [channels, plane] around each tap moved by
/// `offset` [offset groups, taps, rank, positions], weighted by their distance and by `mask` [offset
/// groups, taps, positions], null: 1. Positions outside read nothing. Returns false when there is no memory.
bool deform_columns(const Deforming& d, const float* x, const float* offset, const float* mask,
                    float* columns) noexcept;

}  // namespace assay::kernels
