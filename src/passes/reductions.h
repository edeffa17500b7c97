// Reductions: their axes, and whether these are kept.
#pragma once

#include <optional>
#include <vector>

#include "assay/graph.h"
#include "passes/patch.h"

namespace assay {

/// A node of the Reduce family with known axes and rank: axes from the front, ascending.
struct AxisReduction {
  std::vector<int64_t> axes;
  bool keeps = true;
};

/// Nothing for other nodes, empty reductions and unknown axes.
std::optional<AxisReduction> reduction_of(const Node& n);

/// Adds a reduction by the same operator to a patch, in the form of the model's opset.
void add_reduction(Patch& patch, const Node& like, Value* x, const AxisReduction& reduction, Value* output,
                   int64_t opset);

}  // namespace assay
