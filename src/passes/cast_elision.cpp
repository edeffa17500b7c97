#include "passes/cast_elision.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "passes/match.h"
#include "tensor/convert.h"

namespace assay {
namespace {

bool is_comparison(const Node& n) { return is_op(n, "Equal") || is_op(n, "Greater") || is_op(n, "Less"); }

bool is_candidate(const Node& n) {
  for (const char* op : {"Add", "Sub", "Mul", "Div", "Max", "Min", "Concat"})
    if (is_op(n, op)) return true;
  return is_comparison(n);
}

bool is_shape_type(DType t) { return t == DType::kInt32 || t == DType::kInt64; }

DType cast_target(const Node& cast) { return static_cast<DType>(int_attribute(cast, "to", 0)); }

/// The Cast to float32 of an integer that computes `v`; null when it is something else.
const Node* float_cast(const Value* v) {
  const Node* n = v != nullptr ? producer_of(v, "Cast") : nullptr;
  return n != nullptr && cast_target(*n) == DType::kFloat32 && is_shape_type(dtype_of(n->input(0))) ? n
                                                                                                    : nullptr;
}

/// A constant of whole numbers in an integer type; nothing when it is none or they do not fit.
std::optional<Tensor> as_integers(const Value* v, DType type) {
  const Tensor* t = constant_of(v);
  if (t == nullptr || t->dtype() != DType::kFloat32) return std::nullopt;
  const double limit = type == DType::kInt32 ? 0x1p31 : 0x1p63;
  for (const float x : t->aligned().span<float>())
    if (!(std::trunc(x) == x && x >= -limit && x < limit)) return std::nullopt;
  return convert(t->aligned(), type);
}

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
    if (float_cast(v) == nullptr && !as_integers(v, *type)) return std::nullopt;
  return type;
}

/// Whether every use of the result is a Cast, back to the integer type unless the result is a bool.
bool is_cast_back(const Graph& g, const Node& n, DType type) {
  const Value* y = n.output(0);
  if (n.outputs().size() != 1 || y == nullptr || y->consumers().empty()) return false;
  if (std::find(g.outputs.begin(), g.outputs.end(), y) != g.outputs.end()) return false;
  return std::all_of(y->consumers().begin(), y->consumers().end(), [&](const Node* c) {
    return is_op(*c, "Cast") && &c->graph() == &g && (is_comparison(n) || cast_target(*c) == type);
  });
}

/// The node writes what its Casts wrote.
int64_t take_over_casts(Graph& g, Node& n) {
  Value* y = n.output(0);
  const std::vector<Node*> casts = y->consumers();
  int64_t elided = 0;
  Value* result = nullptr;
  for (Node* cast : casts) {
    Value* out = cast->output(0);
    if (result == nullptr) {
      cast->set_inputs({});
      cast->set_outputs({});
      n.set_output(0, out);
      result = out;
      ++elided;
    } else if (std::find(g.outputs.begin(), g.outputs.end(), out) != g.outputs.end()) {
      cast->set_input(0, result);  // its output keeps its name
    } else {
      g.replace_uses(out, result);
      cast->set_inputs({});
      cast->set_outputs({});
      ++elided;
    }
  }
  return elided;
}

}  // namespace

int64_t elide_shape_casts(Graph& graph) {
  int64_t elided = 0;
  std::vector<Node*> nodes;
  for (const auto& n : graph.nodes()) nodes.push_back(n.get());
  for (Node* n : nodes) {
    if (!is_candidate(*n)) continue;
    const std::optional<DType> type = integer_type(*n);
    if (!type || !is_cast_back(graph, *n, *type)) continue;
    for (size_t i = 0; i < n->inputs().size(); ++i) {
      Value* v = n->input(i);
      if (const Node* cast = float_cast(v)) {
        n->set_input(i, cast->input(0));
        ++elided;
      } else {
        n->set_input(i, graph.add_constant(graph.unique_name(v->name()), *as_integers(v, *type)));
      }
    }
    if (!is_comparison(*n)) elided += take_over_casts(graph, *n);
  }
  return elided;
}

}  // namespace assay
