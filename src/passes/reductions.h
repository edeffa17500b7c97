// Reductions: which axes, and whether they stay.
#pragma once

#include <optional>
#include <vector>

#include "assay/graph.h"
#include "passes/patch.h"

namespace assay {

/// Of a node of the Reduce family with known axes and rank: axes from the front, ascending.
struct AxisReduction {
  std::vector<int64_t> axes;
  bool keeps = true;
};

/// Nothing when the node is none, or reduces nothing, or its axes are not known.
std::optional<AxisReduction> reduction_of(const Node& n);

/// Adds a reduction by the same operator to a patch, in the form of the model's opset.
void add_reduction(Patch& patch, const Node& like, Value* x, const AxisReduction& reduction, Value* output,
                   int64_t opset);

}  // namespace assay
