// A tensor seen along one of its axes.
#pragma once

#include <cstdint>

#include "assay/shape.h"

namespace assay::kernels {

/// [outer, extent, inner]. A line is the elements along the axis, `inner` elements apart.
struct AxisWalk {
  int64_t outer = 1, extent = 1, inner = 1;

  AxisWalk() = default;
  /// 0 <= axis < shape.rank().
  AxisWalk(const Shape& shape, size_t axis)
      : outer(shape.numel(0, axis)), extent(shape[axis]), inner(shape.numel(axis + 1, shape.size())) {}
  int64_t lines() const { return outer * inner; }
};

}  // namespace assay::kernels
