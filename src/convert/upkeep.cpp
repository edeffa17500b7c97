#include "convert/upkeep.h"

#include <algorithm>

#include "graph/read.h"

namespace assay {
namespace {

template <typename Visit>
void each_graph(Graph& g, Visit visit) {
  visit(g);
  for (const auto& n : g.nodes()) each_subgraph(*n, [&](Graph& sub) { each_graph(sub, visit); });
}

template <typename Visit>
void each_graph(Model& model, Visit visit) {
  each_graph(*model.graph, visit);
  for (Function& f : model.functions) each_graph(*f.body, visit);
}

bool is_idle(const Value& v) { return v.consumers().empty(); }
bool is_output(const Graph& g, const Value* v) {
  return std::find(g.outputs.begin(), g.outputs.end(), v) != g.outputs.end();
}

}  // namespace

DeclaredTypes::DeclaredTypes(Model& model) {
  each_graph(model, [&](Graph& g) {
    for (const auto& v : g.values()) types_.emplace(v.get(), v->type);
  });
}

void DeclaredTypes::restore(Model& model) {
  each_graph(model, [&](Graph& g) {
    for (const auto& v : g.values()) {
      if (v->is_constant()) continue;
      const auto it = types_.find(v.get());
      if (it != types_.end())
        v->type = it->second;
      else if (v->producer() != nullptr && !is_output(g, v.get()))
        v->type = {};
    }
  });
}

UnusedConstants::UnusedConstants(Model& model) {
  each_graph(model, [&](Graph& g) {
    for (const auto& v : g.values())
      if (is_idle(*v)) kept_.push_back(v.get());
  });
  known_.insert(kept_.begin(), kept_.end());
}

void UnusedConstants::remove(Model& model) {
  each_graph(model, [&](Graph& g) {
    g.remove_nodes_if([&](const Node& n) {
      return is_op(n, "Constant") && n.output(0) != nullptr && is_idle(*n.output(0)) &&
             !known_.contains(n.output(0)) && !is_output(g, n.output(0));
    });
    const std::vector<Value*> outputs = g.outputs;
    for (Value* v : kept_)
      if (&v->graph() == &g) g.outputs.push_back(v);
    g.remove_unused_values();
    g.outputs = outputs;
  });
}

}  // namespace assay
