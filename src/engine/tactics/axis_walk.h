// How tactics that work along one axis write that down and read it again.
#pragma once

#include "engine/tactics/step_reader.h"
#include "engine/tactics/tactic.h"
#include "kernels/axis/axis.h"

namespace assay::engine {

/// Sets the parameter `axis`, which may count from the end, of a shape of rank 1 or more.
inline void set_axis(Parameters& parameters, int64_t axis, const Shape& shape) {
  parameters.set("axis", normalize_axis(axis, shape.rank()));
}

inline size_t read_axis(const StepReader& r, const Shape& shape) {
  StepReader::check(!shape.empty(), "a single number has no axis");
  return static_cast<size_t>(r.number("axis", 0, shape.rank() - 1));
}

}  // namespace assay::engine
