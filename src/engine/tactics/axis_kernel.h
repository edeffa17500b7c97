// Writing and reading of the axis of tactics that work along one.
#pragma once

#include "engine/runtime/step_reader.h"
#include "kernels/axis/axis.h"

namespace assay::engine {

/// An axis of a shape of rank 1 or more.
struct AxisField {
  int64_t rank = 0;
  int64_t axis = 0;

  void fields(FieldVisitor& visit) { visit("axis", axis, {0, rank - 1}); }
  size_t at() const { return static_cast<size_t>(axis); }
};

/// To be written: `axis` may count from the end.
inline AxisField axis_field(int64_t axis, const Shape& shape) {
  return {shape.rank(), normalize_axis(axis, shape.rank())};
}
/// To be read. Throws Error (kInvalidModel) for a single number.
inline AxisField axis_field(const Shape& shape) {
  StepReader::check(!shape.empty(), "a single number has no axis");
  return {shape.rank()};
}

}  // namespace assay::engine
