#include "convert/upkeep.h"

#include "graph/read.h"
#include "graph/uses.h"

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

}  // namespace

DeclaredTypes::DeclaredTypes(Model& model) {
  each_graph(model, [&](Graph& g) {
    for (const auto& v : g.values()) types_.emplace(v.get(), v->type);
  });
}

void DeclaredTypes::restore(Model& model) {
  OutputIndex outputs;
  each_graph(model, [&](Graph& g) {
    for (const auto& v : g.values()) {
      if (v->is_constant()) continue;
      const auto it = types_.find(v.get());
      if (it != types_.end())
        v->type = it->second;
      else if (v->producer() != nullptr && !outputs.contains(*v))
        v->type = {};
    }
  });
}

UnusedConstants::UnusedConstants(Model& model) {
  each_graph(model, [&](Graph& g) {
    for (const auto& v : g.values())
      if (is_idle(*v)) kept_[&g].push_back(v.get());
  });
  for (const auto& [g, values] : kept_) known_.insert(values.begin(), values.end());
}

void UnusedConstants::remove(Model& model) {
  OutputIndex leaving;
  each_graph(model, [&](Graph& g) {
    g.remove_nodes_if([&](const Node& n) {
      return is_op(n, "Constant") && n.output(0) != nullptr && is_idle(*n.output(0)) &&
             !known_.contains(n.output(0)) && !leaving.contains(*n.output(0));
    });
    const std::vector<Value*> outputs = g.outputs;
    if (const auto it = kept_.find(&g); it != kept_.end())
      g.outputs.insert(g.outputs.end(), it->second.begin(), it->second.end());
    g.remove_unused_values();
    g.outputs = outputs;
  });
}

}  // namespace assay
