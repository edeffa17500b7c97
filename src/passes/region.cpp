#include "passes/region.h"

#include <algorithm>
#include <unordered_set>

#include "analysis/match.h"
#include "graph/clone.h"
#include "naming/origins.h"

namespace assay {
namespace {

bool is_small_constant(const Value* v) { return constant_of(v) != nullptr && v->tensor().numel() == 1; }

/// A value of the body under a name that is free there.
Value* add_formal(Graph& body, const Value& v) { return body.add_value(body.unique_name(v.name()), v.type); }

}  // namespace

bool is_region(const Node& n) { return n.domain == kRegionDomain; }
bool is_region(const Node& n, std::string_view kind) { return is_region(n) && n.op_type == kind; }

const Graph& body_of(const Node& region) {
  return **region.find_attribute("body")->get_if<std::shared_ptr<Graph>>();
}

Value* actual_input(const Node& region, const Value* v) {
  const std::vector<Value*>& formal = body_of(region).inputs;
  const auto it = std::find(formal.begin(), formal.end(), v);
  return it == formal.end() ? nullptr : region.input(static_cast<size_t>(it - formal.begin()));
}

namespace {

/// The body of a region that is being made, and what it takes and gives.
class RegionBody {
 public:
  explicit RegionBody(std::span<const Node* const> nodes)
      : nodes_(nodes), inside_(nodes.begin(), nodes.end()) {
    for (const Node* n : nodes)
      for (const Value* v : n->outputs())
        if (v != nullptr) made_.insert(v);
  }

  void add_input(Value* v) {
    if (v == nullptr || map_.contains(v)) return;
    map_[v] = add_formal(*graph_, *v);
    graph_->inputs.push_back(map_[v]);
    inputs_.emplace_back(v);
  }

  /// Small constants become the body's own.
  void add_operands() {
    for (const Node* n : nodes_)
      for (Value* v : n->inputs()) {
        if (v == nullptr || map_.contains(v) || made_.contains(v)) continue;
        if (is_small_constant(v)) {
          map_[v] = add_formal(*graph_, *v);
          map_[v]->set_tensor(v->tensor());
        } else {
          add_input(v);
        }
      }
  }

  void add_nodes() {
    for (const Value* v : made_) map_[v] = add_formal(*graph_, *v);
    for (const Node* n : nodes_) set_origins(*clone_node(*n, *graph_, map_), origins_of(*n));
  }

  /// Those of a node that others read, or that have to stay.
  void add_outputs(const Node& n, const PassContext& context) {
    for (Value* v : n.outputs()) {
      if (v == nullptr) continue;
      const bool used_outside = std::any_of(v->consumers().begin(), v->consumers().end(),
                                            [&](const Node* c) { return !inside_.contains(c); });
      if (!used_outside && !context.is_pinned(v)) continue;
      graph_->outputs.push_back(map_[v]);
      outputs_.push_back(v);
    }
  }

  const std::shared_ptr<Graph>& graph() const { return graph_; }
  std::vector<Patch::Ref> take_inputs() { return std::move(inputs_); }
  std::vector<Value*> take_outputs() { return std::move(outputs_); }

 private:
  std::span<const Node* const> nodes_;
  std::unordered_set<const Node*> inside_;
  std::unordered_set<const Value*> made_;
  std::shared_ptr<Graph> graph_ = std::make_shared<Graph>();
  ValueMap map_;
  std::vector<Patch::Ref> inputs_;
  std::vector<Value*> outputs_;
};

}  // namespace

Patch make_region(std::string_view kind, std::span<const Node* const> nodes, const PassContext& context,
                  std::span<Value* const> first_inputs, AttributeList attributes,
                  std::span<const Node* const> copied) {
  const auto stays = [&](const Node* n) {
    return std::find(copied.begin(), copied.end(), n) != copied.end();
  };
  RegionBody body(nodes);
  for (Value* v : first_inputs) body.add_input(v);
  body.add_operands();
  body.add_nodes();
  Patch patch(*nodes.back());
  for (const Node* n : nodes) {
    if (stays(n)) continue;
    body.add_outputs(*n, context);
    patch.remove(*n);
  }
  patch.set_name(nodes.front()->name);
  attributes.emplace_back("body", body.graph());
  patch.add_multi(std::string(kind), body.take_inputs(), std::move(attributes), body.take_outputs(),
                  std::string(kRegionDomain));
  return patch;
}

std::vector<Node*> dissolve_region(Node& region) {
  Graph& g = region.graph();
  const Graph& body = body_of(region);
  ValueMap map;
  for (size_t i = 0; i < body.inputs.size(); ++i) map[body.inputs[i]] = region.input(i);
  const std::vector<Value*> outputs = region.outputs();
  region.set_outputs({});
  for (size_t i = 0; i < body.outputs.size(); ++i) map[body.outputs[i]] = outputs[i];
  for (const auto& v : body.values()) {
    if (map.contains(v.get())) continue;
    Value* copy = g.add_value(g.unique_name(v->name()), v->type);
    if (v->tensor().defined()) copy->set_tensor(v->tensor());
    map[v.get()] = copy;
  }
  std::vector<Node*> nodes;
  for (const auto& n : body.nodes()) nodes.push_back(clone_node(*n, g, map));
  region.set_inputs({});
  return nodes;
}

void dissolve_regions(Model& model, const std::function<bool(const Node&)>& dissolves) {
  Graph& g = *model.graph;
  std::vector<Node*> open, order, dissolved;
  for (auto it = g.nodes().rbegin(); it != g.nodes().rend(); ++it) open.push_back(it->get());
  while (!open.empty()) {
    Node* n = open.back();
    open.pop_back();
    if (!is_region(*n) || !dissolves(*n)) {
      order.push_back(n);
      continue;
    }
    const std::vector<Node*> inner = dissolve_region(*n);
    open.insert(open.end(), inner.rbegin(), inner.rend());
    dissolved.push_back(n);
  }
  if (dissolved.empty()) return;
  order.insert(order.end(), dissolved.begin(), dissolved.end());
  g.reorder_nodes(order);
  const std::unordered_set<const Node*> gone(dissolved.begin(), dissolved.end());
  g.remove_nodes_if([&](const Node& n) { return gone.contains(&n); });
}

}  // namespace assay
