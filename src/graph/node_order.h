// The order of a graph's nodes while many come and go.
#pragma once

#include <unordered_map>
#include <vector>

#include "assay/graph.h"

namespace assay {

/// Where Graph::insert_node() and remove_node() cost as much as there are nodes, an edit of this order costs
/// the same however many there are. commit() brings the graph in order; until then Graph::nodes() has the
/// added nodes at its end, and the removed ones without inputs, outputs and attributes.
class NodeOrder {
 public:
  /// The graph must outlive it, and until commit() nobody else may add or remove nodes that are in the order.
  explicit NodeOrder(Graph& graph);

  Graph& graph() const { return graph_; }
  /// The neighbours; null at the ends.
  Node* previous(const Node* n) const { return links_.at(n).previous; }
  Node* next(const Node* n) const { return links_.at(n).next; }
  Node* first() const { return first_; }

  /// Gives a node that was just added to the graph its place: before `position`, at the end if that is null.
  void insert(const Node* position, Node& added);
  /// Removes a node; its outputs stay as values without producer.
  void remove(Node& node);
  /// Brings the graph in this order and deletes the removed nodes.
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
