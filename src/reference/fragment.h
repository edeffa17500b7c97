// Parts of a model as separate models.
#pragma once

#include <memory>
#include <vector>

#include "assay/graph.h"

namespace assay {

struct Fragment {
  /// The node, and the constants that it uses; the outputs are the requested ones, in order.
  std::shared_ptr<const Model> model;
  /// For each input of the model the original value: inputs of the node, then captured values of its
  /// subgraphs; no duplicates.
  std::vector<const Value*> arguments;
};

/// Constant data are shared with the original.
Fragment make_fragment(const Node& node, const Model& model);

/// The body of a node as a model: its inputs, then captured values, which are the fragment's arguments.
/// Captured constants are included.
Fragment make_body(const Graph& body, const Model& model);

}  // namespace assay
