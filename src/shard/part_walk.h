// Tracks parts of a tensor.
#pragma once

#include <string>
#include <vector>

#include "shard/node_search.h"

namespace assay {

/// Follows a value of which each rank has some columns, up to nodes that accept parts.
class PartWalk {
 public:
  using Ends = std::vector<const Node*>;

  /// A constant operand of a node that works on columns one by one.
  struct Operand {
    Node* node;
    size_t input;
  };
  struct Result {
    std::string leak;             ///< tells where a part of the tensor would be treated as the whole; empty:
                                  ///< nowhere
    std::string not_elementwise;  ///< names the first node that does not work element by element; empty: none
    std::vector<Operand> column_operands;
  };

  /// The walk stops at ends, except for nodes
  /// after an end's output that is given to run().
  PartWalk(const Model& model, const NodeSearch& search, Ends ends)
      : model_(model), search_(search), ends_(std::move(ends)) {}

  /// Outputs of the graph, other MatMuls, and reductions over columns are leaks.
  Result run(const Value* columns) const;

 private:
  const Model& model_;
  const NodeSearch& search_;
  Ends ends_;
};

}  // namespace assay
