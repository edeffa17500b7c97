// The tactics by which the engine runs each node of a model, if any work is left for it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "assay/inspect.h"

namespace assay {

/// One node of a graph.
struct NodeTactics {
  std::vector<std::string> tactics;  ///< of the engine's steps for it, each once; empty: folded, or a view
  /// Why the reference evaluator was used; empty when it was not.
  std::string reason;
  bool is_evaluated() const { return !reason.empty(); }
  /// Of control flow: the nodes of its bodies, in the order of the attributes. Empty for one whose shapes are
  /// known only at run time.
  std::vector<std::vector<NodeTactics>> bodies;
};

/// Plans the model for inputs of these shapes, in the order of the graph's inputs, and reports the tactics of
/// each node, in the order of the main graph. Weights are not packed; those that folding changes are copied.
/// Throws Error when the engine cannot plan the model.
std::vector<NodeTactics> plan_tactics(const Model& model, std::span<const Shape> input_shapes);

/// Rows of nodes that run in the same way. Bodies of control flow have separate rows, with the path of the
/// body (naming/selector.h). `first_index` is the index of the first node in the user's model.
TacticUse tactic_use(const Model& model, const std::vector<NodeTactics>& nodes, size_t first_index = 0);

}  // namespace assay
