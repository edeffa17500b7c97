#include "graph/node_order.h"

namespace assay {

NodeOrder::NodeOrder(Graph& graph) : graph_(graph) {
  links_.reserve(graph.nodes().size());
  for (const auto& n : graph.nodes()) insert(nullptr, *n);
}

void NodeOrder::insert(const Node* position, Node& added) {
  Node* next = const_cast<Node*>(position);
  Node*& before = next != nullptr ? links_.at(next).previous : last_;
  Node* previous = before;
  before = &added;
  (previous != nullptr ? links_.at(previous).next : first_) = &added;
  links_[&added] = {previous, next};
}

void NodeOrder::remove(Node& node) {
  const auto it = links_.find(&node);
  const auto [previous, next] = it->second;
  links_.erase(it);
  (previous != nullptr ? links_.at(previous).next : first_) = next;
  (next != nullptr ? links_.at(next).previous : last_) = previous;
  node.set_inputs({});
  node.set_outputs({});
  node.attributes.clear();
}

void NodeOrder::commit() {
  std::vector<Node*> order;
  order.reserve(links_.size());
  for (Node* n = first_; n != nullptr; n = next(n)) order.push_back(n);
  graph_.reorder_nodes(order);
}

}  // namespace assay
