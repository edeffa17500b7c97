#include "inspect/range_extractor.h"

#include <algorithm>
#include <functional>

#include "assay/edit.h"
#include "graph/clone.h"
#include "graph/order.h"
#include "graph/read.h"

namespace assay {

RangeExtractor::RangeExtractor(const Model& model)
    : model_(model), functions_(model), outputs_(model.graph->outputs.begin(), model.graph->outputs.end()) {
  check_depth(model);
  const auto& nodes = model.graph->nodes();
  for (size_t i = 0; i < nodes.size(); ++i) {
    places_[nodes[i].get()] = i;
    for (const Value* v : used_values(*nodes[i])) users_.try_emplace(v, Users{i, i}).first->second.last = i;
  }
  const auto& annotations = model.graph->quantization_annotations;
  for (size_t i = 0; i < annotations.size(); ++i) annotations_[annotations[i].first].push_back(i);
}

namespace {

/// The output of a Constant node, which every part copies.
bool is_given_by_node(const Value* v) {
  return v->producer() != nullptr && is_op(*v->producer(), "Constant");
}

}  // namespace

bool RangeExtractor::is_made_inside(const Value* v, NodeRange range) const {
  if (v->producer() == nullptr) return false;
  const size_t at = places_.at(v->producer());
  return at >= range.begin && at < range.end;
}

bool RangeExtractor::is_used_outside(const Value* v, NodeRange range) const {
  if (outputs_.contains(v)) return true;
  const auto it = users_.find(v);
  return it != users_.end() && (it->second.first < range.begin || it->second.last >= range.end);
}

bool RangeExtractor::is_used_inside(const Value* v, NodeRange range) const {
  // Called for values that are not used outside.
  const auto it = users_.find(v);
  return it != users_.end() && it->second.first < range.end && it->second.last >= range.begin;
}

void RangeExtractor::add_functions(Model& part) const {
  std::unordered_set<const Function*> called;
  std::vector<const Graph*> open = {part.graph.get()};
  while (!open.empty()) {
    const Graph* g = open.back();
    open.pop_back();
    const std::vector<Graph*> inner = subgraphs(*g);
    open.insert(open.end(), inner.begin(), inner.end());
    for (const auto& n : g->nodes()) {
      const Function* f = functions_.called(*n);
      if (f != nullptr && called.insert(f).second) open.push_back(f->body.get());
    }
  }
  // In the order of the model, whose list may be much longer.
  std::vector<const Function*> list(called.begin(), called.end());
  std::sort(list.begin(), list.end(), std::less<>());
  for (const Function* f : list) part.functions.push_back(clone_function(*f));
}

std::shared_ptr<Model> RangeExtractor::extract(NodeRange range) const {
  auto part = std::make_shared<Model>();
  clone_header(model_, *part);
  Graph& g = *part->graph;
  g.name = model_.graph->name;
  g.doc_string = model_.graph->doc_string;
  g.metadata = model_.graph->metadata;
  g.extra_fields = model_.graph->extra_fields;
  ValueMap map;
  std::vector<Value*> constants;  // created here and used elsewhere
  for (size_t i = range.begin; i < range.end; ++i) {
    const Node& n = *model_.graph->nodes()[i];
    for (const Value* v : used_values(n)) {
      if (map.contains(v)) continue;
      Value* copy = map[v] = clone_value(*v, g);
      if (v->is_constant() || is_made_inside(v, range)) continue;
      if (is_given_by_node(v))
        clone_node(*v->producer(), g, map);
      else
        g.inputs.push_back(copy);
    }
    clone_node(n, g, map);
    for (const Value* v : n.outputs()) {
      if (v == nullptr || (!is_used_outside(v, range) && is_used_inside(v, range))) continue;
      (is_given_by_node(v) && !outputs_.contains(v) ? constants : g.outputs).push_back(map.at(v));
    }
  }
  if (g.outputs.empty()) g.outputs = constants;  // a part must have outputs
  for (const auto& v : g.values())
    if (const auto it = annotations_.find(v->name()); it != annotations_.end())
      for (const size_t i : it->second)
        g.quantization_annotations.push_back(model_.graph->quantization_annotations[i]);
  add_functions(*part);
  return part;
}

}  // namespace assay
