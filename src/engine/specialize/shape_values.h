// Inputs that decide about shapes by what they hold: lengths, target shapes, numbers of boxes.
#pragma once

#include <vector>

#include "assay/graph.h"

namespace assay::engine {

/// Inputs of more elements are never taken for such.
inline constexpr int64_t kMaxShapeValues = 64;

/// Positions of the graph's inputs whose elements, were they known, would make shapes known that are not. The
/// model's types must have been inferred for known input shapes; they are inferred again.
std::vector<size_t> shape_value_inputs(Model& model);

}  // namespace assay::engine
