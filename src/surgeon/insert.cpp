#include "surgeon/insert.h"

#include <algorithm>

#include "assay/edit.h"
#include "assay/error.h"
#include "graph/distinct_names.h"
#include "graph/order.h"
#include "naming/selector.h"
#include "ops/check.h"
#include "reference/evaluate.h"

namespace assay {
namespace {

constexpr const char* kSuffix = "_polygraphy_surgeon_insert_output";

/// The tensors of the specs, in order.
std::vector<Value*> find_all(Model& model, const std::vector<std::string>& specs) {
  std::vector<Value*> values;
  for (const std::string& spec : specs)
    for (Value* v : select_values(model, spec)) {
      require(&v->graph() == model.graph.get(), ErrorCode::kInvalidArgument,
              "'{}' is in a subgraph; nodes are inserted into the main graph", spec);
      values.push_back(v);
    }
  return values;
}

bool contains(const std::vector<Value*>& list, const Value* v) {
  return std::find(list.begin(), list.end(), v) != list.end();
}

/// The output of the new node that replaces `old`, which it also reads.
Value* follow(Graph& g, Value* old) {
  const bool is_output = contains(g.outputs, old);
  const std::string name = old->name();
  const std::string other = g.unique_name(name + kSuffix);
  if (is_output) old->rename(other);
  Value* fresh = g.add_value(is_output ? name : other, old->type);
  if (is_output) std::swap(fresh->doc_string, old->doc_string);
  g.replace_uses(old, fresh);
  return fresh;
}

/// Checks types for a known operator; otherwise no runtime could load the model.
void check_types(const Node& n, const Model& model) {
  const BoundOp op = bind_op(n, model);
  if (!op || model.find_function(n.domain, n.op_type, n.overload) != nullptr) return;
  for (const NodeProblem& p : find_node_problems(n, *op.op, *op.version)) {
    if (p.rule != NodeRule::kInputType) continue;
    Error e(ErrorCode::kInvalidArgument, p.message);
    e.set_remedy("Insert an operator that takes this type, or one of a domain of your own.");
    throw e;
  }
}

}  // namespace

Node* insert_node(Model& model, const InsertedNode& spec) {
  Graph& g = *model.graph;
  DistinctNames names(model);
  const std::vector<Value*> inputs = find_all(model, spec.inputs);
  std::vector<Value*> outputs;
  for (Value* v : find_all(model, spec.outputs)) {
    const bool is_read = contains(inputs, v) || contains(g.inputs, v) || v->is_constant();
    if (is_read) {
      outputs.push_back(follow(g, v));
    } else {
      detach_from_producer(*v);
      outputs.push_back(v);
    }
  }
  size_t position = 0;
  for (size_t i = 0; i < g.nodes().size(); ++i)
    if (std::any_of(inputs.begin(), inputs.end(),
                    [&](const Value* v) { return v->producer() == g.nodes()[i].get(); }))
      position = i + 1;
  const Node* before = position < g.nodes().size() ? g.nodes()[position].get() : nullptr;
  Node* node =
      before != nullptr
          ? g.insert_node(before, spec.op_type, inputs, outputs, spec.attributes, spec.name, spec.domain)
          : g.add_node(spec.op_type, inputs, outputs, spec.attributes, spec.name, spec.domain);
  check_types(*node, model);
  // Throws for a cycle, naming it.
  depth_first_order(g);
  cleanup(g);
  names.settle(model);
  node->name = spec.name;  // as requested
  return node;
}

}  // namespace assay
