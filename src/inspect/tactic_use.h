// How the engine runs each node of a model: by which tactics, or not at all because nothing is left to do.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "assay/inspect.h"

namespace assay {

/// One node of a graph.
struct NodeTactics {
  std::vector<std::string> tactics;  ///< of the engine's steps for it, each once; empty: folded, or a view
  /// Why its plain evaluation was taken; empty when it was not.
  std::string reason;
  bool is_evaluated() const { return !reason.empty(); }
  /// Of control flow: the nodes of its bodies, in the order of the attributes. Empty for one whose shapes are
  /// not known before it runs.
  std::vector<std::vector<NodeTactics>> bodies;
};

/// Plans the model for inputs of these shapes, in the order of the graph's inputs, and says what became of
/// each node, in the order of the main graph. Weights are not packed; those that folding changes are copied.
/// Throws Error when the engine cannot plan the model.
std::vector<NodeTactics> plan_tactics(const Model& model, std::span<const Shape> input_shapes);

/// Rows of nodes that run alike. The bodies of control flow have rows of their own, with the path of the body
/// (naming/selector.h). `first_index` is the number of the first node in the model that the reader knows.
TacticUse tactic_use(const Model& model, const std::vector<NodeTactics>& nodes, size_t first_index = 0);

}  // namespace assay
