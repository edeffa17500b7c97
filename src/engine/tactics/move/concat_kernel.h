// Steps of the tactic concat: their parameters, and the kernel that runs them.
#pragma once

#include <algorithm>

#include "engine/runtime/kernel.h"
#include "engine/runtime/step_reader.h"
#include "kernels/copy/copy_rows.h"
#include "kernels/copy/strided_copy.h"

namespace assay::engine::tactic_concat {

struct StepFields {
  int64_t rank = 0;
  size_t parts = 0;
  int64_t axis = 0;
  std::vector<int64_t> offsets;  ///< where each part begins along the memory of the result, in elements

  void fields(FieldVisitor& visit) {
    visit("axis", axis, {0, rank - 1});
    visit("offsets", offsets, parts);
  }
};

/// Extents in memory order.
inline Shape memory_extents(const Shape& shape, Layout layout) {
  if (layout.is_row()) return shape;
  Shape s = shape;
  if (layout.is_channels_last()) {
    s.erase_at(1);
    s.push_back(shape[1]);
    return s;
  }
  s[1] = (shape[1] + layout.block - 1) / layout.block;
  s.push_back(layout.block);
  return s;
}

/// The position of an axis among the extents in memory order.
inline size_t memory_axis(size_t axis, size_t rank, Layout layout) {
  if (!layout.is_channels_last() || axis == 0) return axis;
  return axis == 1 ? rank - 1 : axis - 1;
}

/// Throws Error (kInvalidModel) for a step that the tactic cannot have proposed.
std::unique_ptr<Kernel> create(const Plan& plan, const Step& step);

}  // namespace assay::engine::tactic_concat
