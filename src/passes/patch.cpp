#include "passes/patch.h"

#include <algorithm>

#include "analysis/held_types.h"
#include "graph/uses.h"
#include "naming/origins.h"

namespace assay {
namespace {

void pin_outputs(const Graph& g, std::unordered_set<const Value*>& pinned) {
  pinned.insert(g.outputs.begin(), g.outputs.end());
  for (const auto& n : g.nodes())
    for (const Attribute& a : n->attributes) {
      if (const auto* sub = a.get_if<std::shared_ptr<Graph>>()) pin_outputs(**sub, pinned);
      if (const auto* list = a.get_if<Attribute::Graphs>())
        for (const auto& sub : *list) pin_outputs(*sub, pinned);
    }
}

}  // namespace

PassContext::PassContext(const Model& m) : model(m) { pin_outputs(*m.graph, pinned); }

bool PassContext::is_widely_used(const Value* v) const {
  constexpr size_t kMany = 64;
  if (widely_used_.contains(v)) return true;
  if (v->consumers().size() <= kMany) return false;
  widely_used_.insert(v);
  return true;
}

const Node* PassContext::sole_consumer(const Value* v) const {
  if (v == nullptr || is_pinned(v) || is_widely_used(v) || v->consumers().size() != 1) return nullptr;
  const Node* n = v->consumers()[0];
  return &n->graph() == &v->graph() ? n : nullptr;
}

bool PassContext::can_replace(const Value* from, const Value* to) const {
  if (!is_pinned(from)) return true;
  return to->producer() != nullptr && &to->producer()->graph() == &from->graph() && !is_pinned(to);
}

void Patch::remove(const Node& node) {
  Node* n = const_cast<Node*>(&node);
  if (std::find(removed_.begin(), removed_.end(), n) == removed_.end()) removed_.push_back(n);
}

Patch::Ref Patch::constant(std::string hint, Tensor tensor) {
  made_.push_back(nullptr);
  const int index = static_cast<int>(made_.size()) - 1;
  constants_.push_back({std::move(hint), std::move(tensor), index});
  return Ref::to_made(index);
}

Patch::Ref Patch::add(std::string op_type, std::vector<Ref> inputs, AttributeList attributes, Value* output,
                      Type type, std::string domain) {
  if (output == nullptr)
    return add_fresh(std::move(op_type), std::move(inputs), std::move(attributes), {std::move(type)},
                     std::move(domain))[0];
  add_multi(std::move(op_type), std::move(inputs), std::move(attributes), {output}, std::move(domain));
  return output;
}

std::vector<Patch::Ref> Patch::add_fresh(std::string op_type, std::vector<Ref> inputs,
                                         AttributeList attributes, std::vector<Type> types,
                                         std::string domain) {
  const size_t first = made_.size();
  made_.resize(first + types.size(), nullptr);
  std::vector<Ref> outputs;
  for (size_t i = first; i < made_.size(); ++i) outputs.push_back(Ref::to_made(static_cast<int>(i)));
  nodes_.push_back({std::move(op_type),
                    std::move(domain),
                    std::move(inputs),
                    std::move(attributes),
                    {},
                    std::move(types),
                    static_cast<int>(first)});
  return outputs;
}

void Patch::add_multi(std::string op_type, std::vector<Ref> inputs, AttributeList attributes,
                      std::vector<Value*> outputs, std::string domain) {
  nodes_.push_back({std::move(op_type),
                    std::move(domain),
                    std::move(inputs),
                    std::move(attributes),
                    std::move(outputs),
                    {},
                    -1});
}

void Patch::apply(const PassContext& context, NodeOrder& order) {
  Graph& g = order.graph();
  Origins origins;
  if (!nodes_.empty())
    for (const Node* n : removed_) origins.add(origins_of(*n));
  const bool is_beside_others = !removed_.empty() && std::all_of(removed_.begin(), removed_.end(),
                                                                 [](const Node* n) { return is_beside(*n); });
  std::string held;
  for (const Node* n : removed_)
    if (held.empty()) held = held_type(*n);
  if (name_.empty() && !removed_.empty()) name_ = removed_.front()->name;
  for (NewConstant& c : constants_) {
    Value* v = g.add_constant(g.unique_name(c.hint), std::move(c.tensor));
    made_[static_cast<size_t>(c.index)] = v;
  }
  // Removed nodes let go of their outputs first, so that new nodes can take them over.
  for (Node* n : removed_) n->set_outputs({});
  for (NewNode& n : nodes_) {
    std::vector<Value*> inputs;
    for (const Ref& r : n.inputs) inputs.push_back(resolve(r));
    std::vector<Value*> outputs = n.outputs;
    const std::string hint = name_.empty() ? n.op_type : name_ + "/" + n.op_type;
    for (Type& type : n.types) {
      made_[static_cast<size_t>(n.first) + outputs.size()] =
          g.add_value(g.unique_name(hint), std::move(type));
      outputs.push_back(made_[static_cast<size_t>(n.first) + outputs.size()]);
    }
    Node* added = g.add_node(std::move(n.op_type), std::move(inputs), std::move(outputs),
                             std::move(n.attributes), name_, std::move(n.domain));
    order.insert(anchor_, *added);
    set_origins(*added, origins.names());
    if (is_beside_others) set_beside(*added);
    if (!held.empty()) set_held_type(*added, held);
  }
  for (Node* n : removed_) order.remove(*n);
  for (const Replacement& r : replaced_) {
    Value* to = resolve(r.to);
    if (!context.is_pinned(r.from)) {
      replace_inputs(*r.from, to);
      continue;
    }
    Node* producer = to->producer();
    const auto& outputs = producer->outputs();
    const size_t slot = static_cast<size_t>(std::find(outputs.begin(), outputs.end(), to) - outputs.begin());
    producer->set_output(slot, r.from);
    replace_inputs(*to, r.from);
  }
}

}  // namespace assay
