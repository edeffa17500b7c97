// Operators on float16 and bfloat16 compute in float32: what they read is widened, and what they give is
// rounded only for those who want it narrow. Numbers between two such operators are not rounded, as inside a
// fused operator. What only moves elements stays narrow where nothing has widened them.
#include <algorithm>
#include <unordered_map>

#include "analysis/channel_constants.h"
#include "analysis/held_types.h"
#include "analysis/match.h"
#include "graph/node_order.h"
#include "graph/read.h"
#include "naming/origins.h"
#include "ops/node_facts.h"
#include "ops/op_list.h"
#include "ops/schema.h"
#include "passes/pass_list.h"
#include "reference/evaluate.h"

namespace assay::pass_widen_halves {
namespace {

constexpr auto kFloat = static_cast<int64_t>(DType::kFloat32);

bool is_half(const Value* v) { return dtype_of(v) == DType::kFloat16 || dtype_of(v) == DType::kBFloat16; }

bool allows_float(const Schema& schema, const Parameter* parameter) {
  if (parameter == nullptr) return false;
  const std::vector<std::string> types = schema.allowed_types(*parameter);
  return std::find(types.begin(), types.end(), "float") != types.end();
}

/// Whether the element type of every half output is that of a half input, by the schema.
bool outputs_follow_inputs(const Node& n, const Schema& schema) {
  for (size_t o = 0; o < n.outputs().size(); ++o) {
    if (!is_half(n.output(o))) continue;
    const Parameter* given = schema.output(o);
    bool follows = false;
    for (size_t i = 0; i < n.inputs().size() && !follows; ++i)
      follows = is_half(n.input(i)) && schema.input(i) != nullptr && given != nullptr &&
                schema.input(i)->type == given->type;
    if (!follows || !allows_float(schema, given)) return false;
  }
  return true;
}

/// The number that an Add or Sub of a constant adds to its operand, or, of a constant minus `x`, takes from
/// its negative.
std::optional<double> term_beside(const Node& n, const Value* x) {
  const bool adds = is_op(n, "Add");
  if (!adds && !is_op(n, "Sub")) return std::nullopt;
  const std::optional<double> c = scalar_of(other_input(n, x));
  return c && !adds ? -*c : c;
}

/// Whether the sum is rounded on purpose, as in (x + 1536) - 1536: its next node takes away what it adds.
bool rounds_on_purpose(const Node& n) {
  const Value* sum = n.output(0);
  for (const Value* x : n.inputs()) {
    if (n.inputs().size() != 2 || constant_of(x) != nullptr) continue;
    std::optional<double> term = term_beside(n, x);
    if (term && is_op(n, "Sub") && x == n.input(1)) term = -*term;
    for (const Node* next : sum->consumers()) {
      const std::optional<double> other = term ? term_beside(*next, sum) : std::nullopt;
      if (other && !is_no_rounding_trick(*term, *other, dtype_of(sum))) return true;
    }
  }
  return false;
}

class Widening {
 public:
  explicit Widening(Model& model) : model_(model), graph_(*model.graph), order_(graph_) {}

  bool run() {
    std::vector<Node*> nodes;
    for (const auto& n : graph_.nodes()) nodes.push_back(n.get());
    bool changed = false;
    for (Node* n : nodes) changed = widen(*n) || changed;
    order_.commit();
    return changed;
  }

 private:
  bool can_widen(const Node& n) const {
    // These look at the type itself, or round in it.
    if (is_op(n, "Cast") || is_op(n, "CastLike") || is_op(n, "BitCast") || is_op(n, "QuantizeLinear") ||
        has_subgraph(n))
      return false;
    bool any = false;
    for (const auto* values : {&n.inputs(), &n.outputs()})
      for (const Value* v : *values) {
        if (v == nullptr) continue;
        any = any || is_half(v);
        // Not sequences of halves, nor what Cast does not know yet.
        if (!v->type.is_tensor() || (dtype_of(v) == DType::kBFloat16 && !casts_bfloat16_)) return false;
      }
    if (!any) return false;
    const BoundOp op = bind_op(n, model_);
    if (op.version == nullptr) return false;
    const Schema& schema = schema_of(*op.version);
    for (size_t i = 0; i < n.inputs().size(); ++i)
      if (is_half(n.input(i)) && !allows_float(schema, schema.input(i))) return false;
    return outputs_follow_inputs(n, schema);
  }

  /// Moving elements needs no width of its own: halves stay what they are unless they are wide already.
  bool would_only_move(const Node& n) const {
    if (!hands_on(n, model_)) return false;
    return std::none_of(n.inputs().begin(), n.inputs().end(),
                        [&](const Value* v) { return wide_.contains(v); });
  }

  bool widen(Node& n) {
    if (is_op(n, "Cast") && is_half(n.input(0)) && dtype_of(n.output(0)) == DType::kFloat32) {
      // What it would undo has not happened.
      const auto it = wide_.find(n.input(0));
      if (it == wide_.end()) return false;
      n.op_type = "Identity";
      n.attributes.clear();
      n.set_input(0, it->second);
      return true;
    }
    if (!can_widen(n) || would_only_move(n)) return false;
    const bool stays_rounded = rounds_on_purpose(n);
    for (size_t i = 0; i < n.inputs().size(); ++i)
      if (is_half(n.input(i))) n.set_input(i, wide(n, n.input(i)));
    const Node* next = order_.next(&n);
    for (size_t o = 0; o < n.outputs().size(); ++o) {
      Value* narrow = n.output(o);
      if (!is_half(narrow)) continue;
      Value* given = graph_.add_value(graph_.unique_name(narrow->name() + "/wide"), wide_type(narrow->type));
      const auto to = static_cast<int64_t>(narrow->type.dtype);
      n.set_output(o, given);
      add_cast(next, n, given, narrow, to);
      if (!stays_rounded) wide_.emplace(narrow, given);
    }
    return true;
  }

  static Type wide_type(Type type) {
    type.dtype = DType::kFloat32;
    return type;
  }

  Value* wide(Node& user, Value* v) {
    if (const auto it = wide_.find(v); it != wide_.end()) return it->second;
    Value* given = graph_.add_value(graph_.unique_name(v->name() + "/wide"), wide_type(v->type));
    // Before everybody who may use it: where the graph begins, or behind the node that gives it.
    Node* const producer = v->producer();
    const Node* position =
        producer != nullptr && &producer->graph() == &graph_ ? order_.next(producer) : order_.first();
    add_cast(position, producer != nullptr ? *producer : user, v, given, kFloat);
    wide_.emplace(v, given);
    return given;
  }

  void add_cast(const Node* next, const Node& cause, Value* from, Value* to, int64_t type) {
    Node* cast = graph_.add_node("Cast", {from}, {to}, {{"to", type}}, to->name() + "/cast");
    set_origins(*cast, origins_of(cause));
    set_beside(*cast);
    order_.insert(next, *cast);
  }

  Model& model_;
  const bool casts_bfloat16_ = model_.opset("") >= 13;
  Graph& graph_;
  NodeOrder order_;
  std::unordered_map<const Value*, Value*> wide_;
};

bool run(Model& model) { return Widening(model).run(); }

}  // namespace

constinit const PassDef def = {
    .name = "widen_halves",
    .summary = "operators on float16 and bfloat16 compute in float32",
    .conditions =
        "float16, and bfloat16 from opset 13 on; the schema allows float32 for all inputs and outputs of "
        "that type; no Cast, no quantisation, no subgraph. Results are rounded where somebody reads them in "
        "the narrow type, and sums with a number that the next node takes away, as in (x + 1536) - 1536.",
    .run = run,
};

}  // namespace assay::pass_widen_halves
