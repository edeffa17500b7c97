// A Loop whose condition follows from counters that begin with constants (i + 1 < n, as tf2onnx writes it)
// runs a number of iterations that is known beforehand: it becomes its trip count, and the condition goes.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "analysis/loop_form.h"
#include "analysis/match.h"
#include "assay/error.h"
#include "passes/pass_list.h"
#include "reference/evaluate.h"

namespace assay::pass_count_loop_trips {
namespace {

/// A loop that runs longer than this is left as it is: its condition is computed step by step here.
constexpr int64_t kMaxTrips = 4096;
/// Counters have no more elements than this, and hang on no more nodes.
constexpr int64_t kMaxElements = 16;
constexpr size_t kMaxNodes = 32;

bool is_small_constant(const Value* v, int64_t ir_version) {
  return v != nullptr && is_fixed(v, ir_version) && v->tensor().numel() <= kMaxElements;
}

/// The condition of a loop, and the nodes and states that decide it.
class Condition {
 public:
  Condition(const LoopForm& loop, const Model& model) : loop_(loop), model_(model) {}

  /// The number of iterations, at most `limit`; nothing where it is not known.
  std::optional<int64_t> count(int64_t limit) {
    if (!collect(loop_.body->outputs[0])) return std::nullopt;
    for (size_t k = 0; k < states_.size(); ++k)
      if (!collect(loop_.next(states_[k]))) return std::nullopt;
    std::unordered_map<const Value*, Tensor> now;
    for (const size_t i : states_) now[loop_.inside(i)] = loop_.initial(i)->tensor().aligned();
    for (int64_t trip = 0; trip < std::min(limit, kMaxTrips); ++trip) {
      now[loop_.body->inputs[0]] = Tensor::scalar(trip);
      for (const Node* n : nodes_)
        if (!evaluate(*n, now)) return std::nullopt;
      const Tensor condition = value(loop_.body->outputs[0], now);
      if (condition.dtype() != DType::kBool || condition.numel() != 1) return std::nullopt;
      if (!condition.data<bool>()[0]) return trip + 1;
      std::vector<Tensor> next;
      for (const size_t i : states_) next.push_back(value(loop_.next(i), now));
      for (size_t k = 0; k < states_.size(); ++k) now[loop_.inside(states_[k])] = std::move(next[k]);
    }
    return limit <= kMaxTrips ? std::optional(limit) : std::nullopt;
  }

 private:
  /// Takes what the value follows from within an iteration, in the order in which it is computed; false when
  /// that is not known.
  bool collect(const Value* v) {
    if (is_small_constant(v, model_.ir_version)) return true;
    if (&v->graph() != loop_.body) return false;
    if (!seen_.insert(v).second) return true;
    if (v->producer() == nullptr) return collect_input(v);
    const Node& n = *v->producer();
    if (std::find(nodes_.begin(), nodes_.end(), &n) != nodes_.end()) return true;
    const BoundOp op = bind_op(n, model_);
    if (has_subgraph(n) || !op || op.op->random || n.outputs().size() != 1) return false;
    for (const Value* in : n.inputs())
      if (in != nullptr && !collect(in)) return false;
    nodes_.push_back(&n);
    return nodes_.size() <= kMaxNodes;
  }

  bool collect_input(const Value* v) {
    if (v == loop_.body->inputs[0]) return true;
    for (size_t i = 0; i < loop_.states; ++i) {
      if (v != loop_.inside(i)) continue;
      states_.push_back(i);
      return is_small_constant(loop_.initial(i), model_.ir_version);
    }
    return false;
  }

  static Tensor value(const Value* v, const std::unordered_map<const Value*, Tensor>& now) {
    return v->is_constant() ? v->tensor().aligned() : now.at(v);
  }

  bool evaluate(const Node& n, std::unordered_map<const Value*, Tensor>& now) const {
    std::vector<Tensor> inputs;
    for (const Value* v : n.inputs()) inputs.push_back(v != nullptr ? value(v, now) : Tensor());
    try {
      Tensor result = evaluate_node(n, bind_op(n, model_), std::move(inputs))[0];
      if (result.is_container() || result.numel() > kMaxElements) return false;
      now[n.output(0)] = std::move(result);
      return true;
    } catch (const Error&) {
      return false;  // as it will in the run
    }
  }

  const LoopForm& loop_;
  const Model& model_;
  std::unordered_set<const Value*> seen_;
  std::vector<const Node*> nodes_;
  std::vector<size_t> states_;
};

/// The most iterations that the trip count allows; nothing where it is not known.
std::optional<int64_t> given_trips(const Node& n, int64_t ir_version) {
  const Value* trips = n.input(0);
  if (trips == nullptr) return INT64_MAX;
  if (!is_fixed(trips, ir_version) || trips->tensor().dtype() != DType::kInt64 ||
      trips->tensor().numel() != 1)
    return std::nullopt;
  return trips->tensor().aligned().data<int64_t>()[0];
}

bool rewrite(const LoopForm& loop, const Model& model) {
  Node& n = *loop.node;
  Graph& body = *loop.body;
  const Value* begins = n.input(1);
  if (!loop.is_loop() || !is_small_constant(begins, model.ir_version)) return false;
  const Tensor first = begins->tensor().aligned();
  const std::optional<int64_t> limit = given_trips(n, model.ir_version);
  if (!limit || first.dtype() != DType::kBool || first.numel() != 1) return false;
  // What the condition is inside, the count would not say.
  Value* condition = body.inputs[1];
  if (through_identities(body.outputs[0]) == condition) {
    // It stays what it is.
    if (*limit == INT64_MAX) return false;
  } else if (!condition->consumers().empty() || is_given_out(body, condition)) {
    return false;
  }
  std::optional<int64_t> trips = *limit;
  if (!first.data<bool>()[0])
    trips = 0;
  else if (through_identities(body.outputs[0]) != condition)
    trips = Condition(loop, model).count(*limit);
  if (!trips) return false;
  Graph& g = n.graph();
  n.set_input(0,
              g.add_constant(g.unique_name(n.name + "/trips"), Tensor::scalar(std::max<int64_t>(*trips, 0))));
  n.set_input(1, nullptr);
  return true;
}

bool run(Model& model) {
  bool changed = false;
  for (const LoopForm& loop : loops_of(model)) changed = rewrite(loop, model) || changed;
  return changed;
}

}  // namespace

constinit const PassDef def = {
    .name = "count_loop_trips",
    .summary = "a loop's condition that is known beforehand becomes its trip count",
    .conditions =
        "The trip count is constant or left out, and the first condition is a constant. The condition "
        "follows from counters that begin with constants of at most 16 elements through at most 32 nodes "
        "without subgraphs and without random numbers, within 4096 iterations; the body does not read it. "
        "Initializers that may be replaced count as inputs.",
    .run = run,
};

}  // namespace assay::pass_count_loop_trips
