#include "surgeon/input_shapes.h"

#include <algorithm>
#include <unordered_set>

#include "assay/edit.h"
#include "naming/selector.h"

namespace assay {

void forget_shapes(Graph& g) {
  const std::unordered_set<const Value*> outputs(g.outputs.begin(), g.outputs.end());
  for (const auto& n : g.nodes())
    for (Value* v : n->outputs()) {
      if (v == nullptr || !v->type.has_shape()) continue;
      if (g.parent() == nullptr && outputs.contains(v))
        v->type.dims = Dims(v->type.dims->size());
      else
        v->type.dims.reset();
    }
  for (Graph* sub : subgraphs(g)) forget_shapes(*sub);
}

void override_input_shapes(Model& model, const std::vector<std::pair<std::string, Dims>>& shapes) {
  Graph& g = *model.graph;
  std::unordered_set<const Value*> inputs(g.inputs.begin(), g.inputs.end());
  std::vector<std::pair<Value*, Dims>> changes;
  for (const auto& [name, dims] : shapes) {
    const size_t before = changes.size();
    for (Value* v : select_values(model, name)) {
      require(&v->graph() == &g, ErrorCode::kInvalidArgument,
              "'{}' is in a subgraph; only tensors of the main graph can be inputs of the model", name);
      if (name == v->name() || inputs.contains(v)) changes.emplace_back(v, dims);
    }
    // Patterns match inputs; a tensor that becomes one is given by its name.
    if (changes.size() == before) select_inputs(model, name);
  }
  forget_shapes(g);
  std::unordered_set<const Node*> gone;
  for (const auto& [v, dims] : changes) {
    v->type = Type::tensor(v->type.dtype, dims);
    if (!inputs.insert(v).second) continue;
    v->clear_tensor();
    Node* producer = v->producer();
    detach_from_producer(*v);
    const auto is_left_out = [](const Value* out) { return out == nullptr; };
    if (producer != nullptr &&
        std::all_of(producer->outputs().begin(), producer->outputs().end(), is_left_out))
      gone.insert(producer);
    g.inputs.push_back(v);
  }
  g.remove_nodes_if([&](const Node& n) { return gone.contains(&n); });
}

}  // namespace assay
