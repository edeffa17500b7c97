#include "shard/node_search.h"

#include <algorithm>

namespace assay {

NodeSearch::NodeSearch(const Graph& graph) {
  for (const auto& n : graph.nodes())
    for (const Value* v : n->inputs())
      if (v != nullptr) {
        std::vector<Node*>& list = users_[v];
        if (list.empty() || list.back() != n.get()) list.push_back(n.get());
      }
}

const std::vector<Node*>& NodeSearch::users(const Value* v) const {
  const auto it = users_.find(v);
  return it != users_.end() ? it->second : none_;
}

Node* NodeSearch::before(const Value* v, std::string_view op_type, int depth) const {
  Depths vain;
  return search(v, op_type, depth, false, vain);
}

Node* NodeSearch::after(const Value* v, std::string_view op_type, int depth) const {
  Depths vain;
  return search(v, op_type, depth, true, vain);
}

Node* NodeSearch::search(const Value* v, std::string_view op_type, int depth, bool forward,
                         Depths& vain) const {
  if (v == nullptr || depth == 0) return nullptr;
  if (const auto it = vain.find(v); it != vain.end() && it->second >= depth) return nullptr;
  vain[v] = depth;
  std::vector<Node*> producer;
  if (!forward && v->producer() != nullptr) producer.push_back(v->producer());
  for (Node* n : forward ? users(v) : producer) {
    if (n->op_type == op_type) return n;
    for (const Value* next : forward ? n->outputs() : n->inputs())
      if (Node* found = search(next, op_type, depth - 1, forward, vain)) return found;
  }
  return nullptr;
}

}  // namespace assay
