// Searches an operator within a number of nodes before or after a value.
#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

#include "assay/graph.h"

namespace assay {

/// Searches depth first, along the inputs of nodes or along their users in the order of the graph's nodes.
/// The graph must not change meanwhile.
class NodeSearch {
 public:
  static constexpr int kMaxDepth = 20;

  explicit NodeSearch(const Graph& graph);

  /// The first node of that operator found upstream, at
  /// most `depth` nodes away; null when there is none.
  Node* before(const Value* v, std::string_view op_type, int depth = kMaxDepth) const;
  /// The same downstream.
  Node* after(const Value* v, std::string_view op_type, int depth = kMaxDepth) const;
  /// The nodes of the graph that have the value as an input.
  const std::vector<Node*>& users(const Value* v) const;

 private:
  using Depths = std::unordered_map<const Value*, int>;  // depth searched from a value in vain
  Node* search(const Value* v, std::string_view op_type, int depth, bool forward, Depths& vain) const;

  std::unordered_map<const Value*, std::vector<Node*>> users_;
  std::vector<Node*> none_;
};

}  // namespace assay
