#include "passes/cast_elision.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "analysis/integer_range.h"
#include "analysis/match.h"
#include "assay/edit.h"
#include "ops/node_facts.h"
#include "ops/schema.h"
#include "reference/evaluate.h"
#include "tensor/convert.h"

namespace assay {
namespace {

bool is_comparison(const Node& n) { return dtype_of(n.output(0)) == DType::kBool; }

bool is_shape_type(DType t) { return t == DType::kInt32 || t == DType::kInt64; }

DType cast_target(const Node& cast) { return static_cast<DType>(int_attribute(cast, "to", 0)); }

/// The Cast to float32 of an integer that computes `v`; null when it is something else.
const Node* float_cast(const Value* v) {
  const Node* n = v != nullptr ? producer_of(v, "Cast") : nullptr;
  return n != nullptr && cast_target(*n) == DType::kFloat32 && is_shape_type(dtype_of(n->input(0))) ? n
                                                                                                    : nullptr;
}

/// A constant of whole numbers in an integer type; nothing when it is none or they do not fit.
std::optional<Tensor> as_integers(const UnalignedTensor& t, DType type) {
  if (t.dtype() != DType::kFloat32) return std::nullopt;
  const double limit = type == DType::kInt32 ? 0x1p31 : 0x1p63;
  const Tensor floats = t.aligned();
  for (const float x : floats.span<float>())
    if (!(std::trunc(x) == x && x >= -limit && x < limit)) return std::nullopt;
  return convert(floats, type);
}

class CastElision {
 public:
  CastElision(Graph& graph, const Model& model) : graph_(graph), model_(model), ranges_(model) {
    given_.insert(graph.outputs.begin(), graph.outputs.end());
    for (const Graph* sub : subgraphs(graph, true)) given_.insert(sub->outputs.begin(), sub->outputs.end());
  }

  int64_t run() {
    std::vector<Node*> nodes;
    std::vector<std::pair<Node*, DType>> found;
    for (const auto& n : graph_.nodes()) nodes.push_back(n.get());
    for (Node* n : nodes) {
      if (!facts_of(*n, model_).commutes_with_cast) continue;
      const std::optional<DType> type = integer_type(*n);
      if (type && is_defined_for(*n, *type) && is_cast_back(*n, *type) && is_exact(*n))
        found.emplace_back(n, *type);
    }
    for (const auto& [n, type] : found) elide(*n, type);
    return elided_;
  }

 private:
  /// The one integer type of the inputs; nothing when the node does not qualify.
  std::optional<DType> integer_type(const Node& n) {
    std::optional<DType> type;
    for (const Value* v : n.inputs()) {
      const Node* cast = float_cast(v);
      if (cast == nullptr) continue;
      const DType t = dtype_of(cast->input(0));
      if (type && *type != t) return std::nullopt;
      type = t;
    }
    if (!type) return std::nullopt;
    for (const Value* v : n.inputs())
      if (float_cast(v) == nullptr && !integers(v, *type).tensor) return std::nullopt;
    return type;
  }

  /// Greater has integers from opset 9 on, Max from 12.
  bool is_defined_for(const Node& n, DType type) const {
    const BoundOp op = bind_op(n, model_);
    const Parameter* p = op ? schema_of(*op.version).input(0) : nullptr;
    return p != nullptr && (p->kinds & value_kind(type)) != 0;
  }

  /// Whether every use of the result is a Cast, back to the integer type unless the result is a bool.
  bool is_cast_back(const Node& n, DType type) const {
    const Value* y = n.output(0);
    if (n.outputs().size() != 1 || y == nullptr || y->consumers().empty() || given_.contains(y)) return false;
    return std::all_of(y->consumers().begin(), y->consumers().end(), [&](const Node* c) {
      return is_op(*c, "Cast") && &c->graph() == &graph_ && (is_comparison(n) || cast_target(*c) == type);
    });
  }

  /// Whether float32 computes the same: operands and result are integers that it has exactly.
  bool is_exact(const Node& n) {
    std::optional<IntegerRange> result;
    for (size_t i = 0; i < n.inputs().size(); ++i) {
      const std::optional<IntegerRange> operand = range_of_operand(n.input(i));
      if (!operand || !operand->is_exact_in_float32()) return false;
      if (i == 0)
        result = operand;
      else if (result)
        result = combined(n, *result, *operand);
    }
    return result && result->is_exact_in_float32();
  }

  std::optional<IntegerRange> range_of_operand(const Value* v) {
    if (const Node* cast = float_cast(v)) return ranges_.of(cast->input(0));
    std::optional<IntegerRange> all;
    for (const int64_t x : integers(v, DType::kInt64).tensor->to_int64())
      all = all ? hull(*all, {x, x}) : IntegerRange{x, x};
    return all ? all : IntegerRange{0, 0};
  }

  static std::optional<IntegerRange> combined(const Node& n, const IntegerRange& a, const IntegerRange& b) {
    if (is_op(n, "Add")) return sum(a, b);
    if (is_op(n, "Sub")) return difference(a, b);
    if (is_op(n, "Mul")) return product(a, b);
    if (is_op(n, "Div")) return quotient(a, b);
    return hull(a, b);
  }

  /// A constant as integers: nothing when it cannot be; a value once a node uses it.
  struct Integers {
    std::optional<Tensor> tensor;
    Value* value = nullptr;
  };

  Integers& integers(const Value* v, DType type) {
    const auto [it, is_new] = constants_.try_emplace({v, type});
    if (is_new && is_fixed(v, model_.ir_version)) it->second.tensor = as_integers(v->tensor(), type);
    return it->second;
  }

  Value* integer_constant(const Value* v, DType type) {
    Integers& c = integers(v, type);
    if (c.value == nullptr) c.value = graph_.add_constant(graph_.unique_name(v->name()), *c.tensor);
    return c.value;
  }

  void elide(Node& n, DType type) {
    for (size_t i = 0; i < n.inputs().size(); ++i) {
      const Node* cast = float_cast(n.input(i));
      n.set_input(i, cast != nullptr ? cast->input(0) : integer_constant(n.input(i), type));
      elided_ += cast != nullptr ? 1 : 0;
    }
    if (!is_comparison(n)) take_over_casts(n);
  }

  /// The node writes what its Casts wrote.
  void take_over_casts(Node& n) {
    const std::vector<Node*> casts = n.output(0)->consumers();
    Value* result = nullptr;
    for (Node* cast : casts) {
      Value* out = cast->output(0);
      if (result != nullptr && given_.contains(out)) {
        cast->set_input(0, result);  // its output keeps its name
        continue;
      }
      cast->set_inputs({});
      cast->set_outputs({});
      ++elided_;
      if (out == nullptr) continue;
      if (result == nullptr)
        n.set_output(0, result = out);
      else
        graph_.replace_uses(out, result);
    }
  }

  struct Hash {
    size_t operator()(const std::pair<const Value*, DType>& key) const {
      return std::hash<const Value*>()(key.first) ^ static_cast<size_t>(key.second);
    }
  };

  Graph& graph_;
  const Model& model_;
  IntegerRanges ranges_;
  std::unordered_set<const Value*> given_;  // outputs of the graph and its subgraphs
  std::unordered_map<std::pair<const Value*, DType>, Integers, Hash> constants_;
  int64_t elided_ = 0;
};

}  // namespace

int64_t elide_shape_casts(Graph& graph, const Model& model) { return CastElision(graph, model).run(); }

}  // namespace assay
