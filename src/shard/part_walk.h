// Where parts of a tensor get to.
#pragma once

#include <string>
#include <vector>

#include "shard/node_search.h"

namespace assay {

/// Follows a value of which each rank has some columns, until nodes that put up with parts.
class PartWalk {
 public:
  using Ends = std::vector<const Node*>;

  /// A constant operand of a node that works on columns one by one.
  struct Operand {
    Node* node;
    size_t input;
  };
  struct Result {
    std::string leak;  ///< says where a part would be taken for the whole; empty: nowhere
    std::string
        not_elementwise;  ///< names the first node that does not work on elements; empty: there is none
    std::vector<Operand> column_operands;
  };

  /// What follows from an end is not looked at, except the nodes after an end's output that is given to
  /// run().
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
