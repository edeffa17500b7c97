// Inputs whose elements determine shapes: lengths, target shapes, numbers of boxes.
#pragma once

#include <vector>

#include "assay/graph.h"

namespace assay::engine {

/// Inputs with more elements are never treated as such.
inline constexpr int64_t kMaxShapeValues = 64;

/// Positions of the graph's inputs whose elements would determine unknown shapes. The
/// model's types must have been inferred for known input shapes; they are inferred again.
std::vector<size_t> shape_value_inputs(Model& model);

}  // namespace assay::engine
