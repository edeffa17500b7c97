#include "passes/node_evaluator.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "analysis/match.h"
#include "assay/edit.h"
#include "base/memory_limit.h"
#include "graph/at_node.h"
#include "graph/clone.h"
#include "graph/order.h"
#include "ops/infer.h"
#include "ops/node_facts.h"
#include "ops/op_set.h"
#include "ops/work.h"
#include "passes/pass_list.h"
#include "reference/interpreter.h"

namespace assay {
namespace {

/// A node with more bytes of inputs may have results that are much larger still.
constexpr int64_t kSmallInputs = 1 << 16;

/// The graphs among the attributes of a node.
std::vector<const Graph*> graphs_of(const Node& n) {
  std::vector<const Graph*> list;
  for (const Attribute& a : n.attributes) {
    if (const auto* g = a.get_if<std::shared_ptr<Graph>>()) list.push_back(g->get());
    if (const auto* graphs = a.get_if<Attribute::Graphs>())
      for (const auto& g : *graphs) list.push_back(g.get());
  }
  return list;
}

/// Whether one element may take any number of steps, or there may be very many.
bool may_take_long(const Node& n, const Model& model) {
  const OpFacts& facts = facts_of(n, model);
  return facts.may_grow || facts.multiply_accumulates != nullptr || facts.extra_steps != nullptr;
}

bool any_node(const Node& n, const std::function<bool(const Node&)>& holds) {
  if (holds(n)) return true;
  for (const Graph* g : graphs_of(n))
    for (const auto& inner : g->nodes())
      if (any_node(*inner, holds)) return true;
  return false;
}

bool is_random_operator(const Node& n, const OpSet& ops) {
  const OpDef* op = ops.find(n.domain, n.op_type);
  return op != nullptr && op->random;
}

}  // namespace

/// From the functions with random operators back to those that call them: calls may be as deep as there are
/// functions, or go round in circles.
LocalFunctions::LocalFunctions(const Model& model) : index_(model) {
  std::unordered_map<const Function*, std::vector<const Function*>> callers;
  std::vector<const Function*> open;
  for (const Function& f : model.functions)
    for (const auto& n : f.body->nodes()) {
      const bool is_found = any_node(*n, [&](const Node& inner) {
        const Function* callee = called(inner);
        if (callee != nullptr) callers[callee].push_back(&f);
        return callee == nullptr && is_random_operator(inner, ops_of(model));
      });
      if (is_found && random_.insert(&f).second) open.push_back(&f);
    }
  while (!open.empty()) {
    const Function* f = open.back();
    open.pop_back();
    for (const Function* caller : callers[f])
      if (random_.insert(caller).second) open.push_back(caller);
  }
}

NodeEvaluator::NodeEvaluator(const Model& model, const LocalFunctions& functions, const Model& scope,
                             Known known, int64_t max_work)
    : model_(model), functions_(functions), scope_(scope), known_(std::move(known)), max_work_(max_work) {}

std::vector<Tensor> NodeEvaluator::evaluate(const Node& n) const {
  const Function* function = functions_.called(n);
  const BoundOp op = function == nullptr ? bind_op(n, scope_) : BoundOp();
  if ((function == nullptr && !op) || is_random(n)) return {};
  return at_node(n, [&] {
    check_turns(n);
    check_cost(n);
    const MemoryCeiling ceiling(memory_left() / 2);
    if (function != nullptr || !graphs_of(n).empty()) return run(n);
    std::vector<Tensor> inputs;
    for (const Value* v : n.inputs()) inputs.push_back(v != nullptr ? known_(v).aligned() : Tensor());
    return evaluate_node(n, op, std::move(inputs));
  });
}

bool NodeEvaluator::is_random(const Node& n) const {
  return any_node(n, [&](const Node& inner) {
    const Function* f = functions_.called(inner);
    return f != nullptr ? functions_.is_random(f) : is_random_operator(inner, ops_of(model_));
  });
}

void NodeEvaluator::check_turns(const Node& n) const {
  const bool is_bounded = !any_node(n, [&](const Node& inner) {
    if (!is_op(inner, "Loop")) return false;
    const Value* v = inner.input(0);
    if (v == nullptr) return true;
    const UnalignedTensor& turns = &inner == &n ? known_(v) : v->tensor();
    return !turns.defined() || turns.numel() != 1 || !is_integer(turns.dtype()) ||
           turns.to_int64()[0] > kMaxTurns;
  });
  if (!is_bounded)
    fail(ErrorCode::kUnsupported, "a Loop in it is not known to end within {} turns", kMaxTurns);
}

/// Shape inference knows size and work before memory is asked for.
void NodeEvaluator::check_cost(const Node& n) const {
  int64_t given = 0;
  for (const Value* v : n.inputs())
    if (v != nullptr) given += static_cast<int64_t>(known_(v).nbytes());
  if (given <= kSmallInputs && !may_take_long(n, scope_)) return;
  const std::shared_ptr<Model> model = fragment(n);
  for (const Value* v : model->graph->outputs) {
    const std::optional<Shape> shape = shape_of(v);
    if (!shape) continue;
    const auto bytes = static_cast<int64_t>(storage_bytes(dtype_of(v), shape->numel()));
    require(bytes <= std::max(kMaxBytes, 2 * given), ErrorCode::kUnsupported,
            "its result would have {} bytes, too many to be computed here", bytes);
  }
  for (const auto& inner : model->graph->nodes())
    require(work_estimate(*inner, find_op(*inner, *model)) <= max_work_, ErrorCode::kUnsupported,
            "it takes more than {} steps, too long to be computed here", max_work_);
}

void NodeEvaluator::add_functions(const Graph& g, Model& model) const {
  std::vector<const Graph*> open = {&g};
  std::unordered_set<const Function*> added;
  while (!open.empty()) {
    const Graph* at = open.back();
    open.pop_back();
    for (const auto& n : at->nodes()) {
      for (const Graph* sub : graphs_of(*n)) open.push_back(sub);
      const Function* f = functions_.called(*n);
      if (f == nullptr || !added.insert(f).second) continue;
      model.functions.push_back(clone_function(*f));
      cleanup(*model.functions.back().body);
      open.push_back(f->body.get());
    }
  }
}

/// The node alone, what it uses as constants.
std::shared_ptr<Model> NodeEvaluator::fragment(const Node& n) const {
  auto model = std::make_shared<Model>(scope_of(model_, scope_.opsets));
  Graph& g = *model->graph;
  ValueMap map;
  const auto add = [&](const Value* v) {
    if (v == nullptr || map.contains(v)) return;
    map[v] = g.add_constant(g.unique_name(v->name()), known_(v));
  };
  for (const Value* v : n.inputs()) add(v);
  for (const Value* v : all_used_values(n)) add(v);
  for (const Value* v : n.outputs())
    if (v != nullptr) g.outputs.push_back(map[v] = g.add_value(g.unique_name(v->name())));
  clone_node(n, g, map);
  add_functions(g, *model);
  if (!model->functions.empty()) pass_inline_functions::def.run(*model);
  infer_shapes(*model);
  return model;
}

std::vector<Tensor> NodeEvaluator::run(const Node& n) const {
  const std::shared_ptr<Model> model = fragment(n);
  std::unordered_map<const Value*, Tensor> found;
  Interpreter interpreter(model, {.precision = ReferencePrecision::kStored, .max_work = max_work_});
  interpreter.run({}, [&](const Value& v, std::span<const Tensor> lanes) { found[&v] = lanes[0]; });
  std::vector<Tensor> results;
  size_t k = 0;
  for (const Value* v : n.outputs())
    results.push_back(v != nullptr ? found.at(model->graph->outputs[k++]) : Tensor());
  return results;
}

}  // namespace assay
