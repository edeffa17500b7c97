// The order of a graph's nodes during many insertions and removals.
#pragma once

#include <unordered_map>
#include <vector>

#include "assay/graph.h"

namespace assay {

/// Graph::insert_node() and remove_node() take linear time; an edit of this order takes constant time.
/// commit() applies the order to the graph; until then Graph::nodes() has the
/// added nodes at its end, and the removed ones without inputs, outputs and attributes.
class NodeOrder {
 public:
  /// The graph must outlive it, and until commit() no other code may add or remove its nodes.
  explicit NodeOrder(Graph& graph);

  Graph& graph() const { return graph_; }
  /// The neighbours; null at the ends.
  Node* previous(const Node* n) const { return links_.at(n).previous; }
  Node* next(const Node* n) const { return links_.at(n).next; }
  Node* first() const { return first_; }

  /// Places a node that was just added to the graph: before `position`, at the end if that is null.
  void insert(const Node* position, Node& added);
  /// Removes a node; its outputs stay as values without producer.
  void remove(Node& node);
  /// Applies this order to the graph and deletes the removed nodes.
  void commit();

 private:
  struct Links {
    Node *previous, *next;
  };

  Graph& graph_;
  Node *first_ = nullptr, *last_ = nullptr;
  std::unordered_map<const Node*, Links> links_;
};

}  // namespace assay
