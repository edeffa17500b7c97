// Parts of a model as models of their own.
#pragma once

#include <memory>
#include <vector>

#include "assay/graph.h"

namespace assay {

struct Fragment {
  /// The node, and the constants that it uses; the outputs are the node's that are wanted, in order.
  std::shared_ptr<const Model> model;
  /// For each input of the model the value that it stands for: inputs of the node, then what its subgraphs
  /// take from outside; no duplicates.
  std::vector<const Value*> arguments;
};

/// Constant data are shared with the original.
Fragment make_fragment(const Node& node, const Model& model);

/// The body of a node as a model: its inputs, then what it takes from around it, which are the fragment's
/// arguments. Constants from there come along.
Fragment make_body(const Graph& body, const Model& model);

}  // namespace assay
