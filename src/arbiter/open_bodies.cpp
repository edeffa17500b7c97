#include "arbiter/unroll.h"
#include "graph/clone.h"
#include "transform/expose_value.h"

namespace assay {
namespace {

/// Whether what its bodies compute can be handed out.
bool shows_bodies(const Node& n) {
  return canonical_domain(n.domain).empty() &&
         (n.op_type == "If" || n.op_type == "Loop" || n.op_type == "Scan");
}

/// Pairs each tensor in the bodies of a node with that in the node's copy, what is inside first.
void pair_tensors(const Node& original, const Node& copy,
                  std::vector<std::pair<const Value*, Value*>>& pairs) {
  if (!shows_bodies(original)) return;
  for (size_t a = 0; a < original.attributes.size(); ++a) {
    const auto* body = original.attributes[a].get_if<std::shared_ptr<Graph>>();
    if (body == nullptr) continue;
    const Graph& twin = **copy.attributes[a].get_if<std::shared_ptr<Graph>>();
    for (size_t i = 0; i < (*body)->nodes().size(); ++i) {
      const Node &n = *(*body)->nodes()[i], &m = *twin.nodes()[i];
      pair_tensors(n, m, pairs);
      for (size_t k = 0; k < n.outputs().size(); ++k)
        if (const Value* v = n.output(k);
            v != nullptr && v->type.is_tensor() && v->type.dtype != DType::kUndefined)
          pairs.emplace_back(v, m.output(k));
    }
  }
}

}  // namespace

OpenedModel open_bodies(std::shared_ptr<const Model> model, std::span<const Node* const> nodes) {
  OpenedModel opened;
  const std::shared_ptr<Model> copy = clone_model(*model);
  std::vector<std::pair<const Value*, Value*>> pairs;
  const std::unordered_set<const Node*> wanted(nodes.begin(), nodes.end());
  for (size_t i = 0; i < model->graph->nodes().size(); ++i) {
    const Node& n = *model->graph->nodes()[i];
    if (!wanted.contains(&n) || !shows_bodies(n)) continue;
    opened.nodes.insert(&n);
    pair_tensors(n, *copy->graph->nodes()[i], pairs);
  }
  std::vector<Value*> inner;
  for (const auto& [original, twin] : pairs) inner.push_back(twin);
  const std::vector<Value*> shown = expose_where_possible(*copy, inner);
  for (size_t i = 0; i < shown.size(); ++i) {
    if (shown[i] == nullptr) continue;
    opened.output_names.emplace(pairs[i].first, shown[i]->name());
    copy->graph->outputs.push_back(shown[i]);
  }
  opened.original = std::move(model);
  opened.model = copy;
  return opened;
}

}  // namespace assay
