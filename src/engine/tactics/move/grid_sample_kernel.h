// Steps of the tactic grid_sample: their parameters, and the kernel that runs them.
#pragma once

#include <algorithm>

#include "engine/runtime/kernel.h"
#include "engine/runtime/step_reader.h"
#include "kernels/sample/grid_sample.h"

namespace assay::engine::tactic_grid_sample {

using kernels::GridEdge;
using kernels::GridMode;
using kernels::GridSampling;

struct StepFields {
  GridMode mode = GridMode::kNearest;
  GridEdge edge = GridEdge::kZeros;
  bool align_corners = false;

  void fields(FieldVisitor& visit) {
    visit("mode", mode, GridMode::kCubic);
    visit("edge", edge, GridEdge::kReflection);
    visit("align_corners", align_corners);
  }
};

/// False when image, grid and output do not belong together.
inline bool read_shapes(const Shape& image, const Shape& grid, const Shape& out, GridSampling& g) {
  const size_t rank = image.size();
  if (rank < 3 || grid.size() != rank || out.size() != rank || grid.back() != image.rank() - 2 ||
      grid[0] != image[0] || out[0] != image[0] || out[1] != image[1])
    return false;
  for (size_t d = 2; d < rank; ++d)
    if (out[d] != grid[d - 1]) return false;
  g.batch = image[0];
  g.channels = image[1];
  g.extents.assign(image.begin() + 2, image.end());
  g.points = out.numel(2, rank);
  const int64_t plane = image.numel(2, rank);
  return plane > 0 && plane <= kMaxOfWindow && g.taps() <= kernels::kMaxGridTaps;
}

/// Throws Error (kInvalidModel) for a step that the tactic cannot have proposed.
std::unique_ptr<Kernel> create(const Plan& plan, const Step& step);

}  // namespace assay::engine::tactic_grid_sample
