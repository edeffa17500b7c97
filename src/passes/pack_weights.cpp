// Weights behind a DequantizeLinear are multiplied and gathered as they are stored: MatMul and Gemm become
// MatMulNBits, Gather of rows GatherBlockQuantized. A matrix that several nodes read is one constant for all
// of them, whatever they do with it. Weights of convolutions, for which no operator has such a form, are only
// marked: what they are is found again when a tactic is chosen.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "analysis/held_types.h"
#include "analysis/match.h"
#include "analysis/nbits_matrix.h"
#include "analysis/stored_weights.h"
#include "graph/node_order.h"
#include "naming/origins.h"
#include "passes/pass_list.h"
#include "tensor/convert.h"

namespace assay::pass_pack_weights {
namespace {

constexpr const char* kContrib = "com.microsoft";

/// The DequantizeLinear of weights, and the transposition that they are read through, if any.
struct Source {
  const Node *dequantize = nullptr, *transpose = nullptr;
};

Source source_of(const Value* v) {
  if (const Node* n = producer_of(v, "DequantizeLinear")) return {n, nullptr};
  const Node* t = producer_of(v, "Transpose");
  if (t == nullptr || rank_of(t->input(0)) != 2) return {};
  const std::vector<int64_t> perm = ints_attribute(*t, "perm");
  if (!perm.empty() && perm != std::vector<int64_t>{1, 0}) return {};
  return {producer_of(t->input(0), "DequantizeLinear"), t};
}

class WeightPacker {
 public:
  explicit WeightPacker(Model& model) : model_(model), graph_(*model.graph), order_(graph_) {}

  bool run() {
    std::vector<Node*> nodes;
    for (const auto& n : graph_.nodes()) nodes.push_back(n.get());
    bool changed = false;
    for (Node* n : nodes) changed = visit(*n) || changed;
    remove_unused(transposes_);
    remove_unused(dequantized_);
    order_.commit();
    if (changed && model_.opset(kContrib) == 0) model_.opsets.push_back({kContrib, 1});
    return changed;
  }

 private:
  /// A matrix in the graph.
  struct Packed {
    NbitsForm form;
    Value *levels = nullptr, *scales = nullptr, *zeros = nullptr, *factors = nullptr;
  };
  /// Tensors and attributes of a DequantizeLinear, and which of its axes is added up.
  using Key = std::tuple<const Value*, const Value*, const Value*, int64_t, int64_t, bool>;

  bool visit(Node& n) {
    if (is_held_in_floats(n) || n.outputs().size() != 1 || n.output(0) == nullptr) return false;
    if (is_op(n, "Conv")) return keep(n.input(1));
    if (is_op(n, "MatMul")) return product(n, false);
    if (is_op(n, "Gemm")) return product(n, int_attribute(n, "transB", 0) != 0);
    return is_op(n, "Gather") && gather(n);
  }

  static bool keep(Value* weights) {
    if (weights == nullptr || is_kept_stored(weights) || !can_stay_stored(*weights)) return false;
    keep_stored(*weights);
    return true;
  }

  /// Of nodes that nobody reads any more: otherwise they would be computed when constants are folded.
  void remove_unused(const std::set<const Node*>& sources) {
    for (const Node* n : sources) {
      const Value* given = n->output(0);
      const bool is_output =
          std::find(graph_.outputs.begin(), graph_.outputs.end(), given) != graph_.outputs.end();
      if (!is_output && given->consumers().empty()) order_.remove(*const_cast<Node*>(n));
    }
  }

  /// Null: they are no matrix in a form that can be packed.
  const Packed* packed_of(const Source& s, bool is_depth_first) {
    const Node& n = *s.dequantize;
    const Key key{
        n.input(0),    n.input(1), n.input(2), int_attribute(n, "axis", 1), int_attribute(n, "block_size", 0),
        is_depth_first};
    const auto [it, is_new] = packed_.try_emplace(key);
    if (is_new) {
      const std::optional<NbitsForm> form = nbits_form(n, is_depth_first);
      if (!form || form->rows * form->depth < kLeastPackedWeights) return nullptr;
      it->second = add(n, *form);
    }
    if (it->second.levels == nullptr) return nullptr;
    dequantized_.insert(&n);
    if (s.transpose != nullptr) transposes_.insert(s.transpose);
    return &it->second;
  }

  Packed add(const Node& dequantize, const NbitsForm& form) {
    NbitsMatrix m = nbits_matrix(dequantize, form);
    const std::string& name = dequantize.output(0)->name();
    Packed p{.form = form};
    p.levels = constant(name + "/levels", std::move(m.levels));
    p.scales = constant(name + "/scales", std::move(m.scales));
    if (m.zeros.defined()) p.zeros = constant(name + "/zeros", std::move(m.zeros));
    if (m.factors.defined()) p.factors = constant(name + "/factors", std::move(m.factors));
    return p;
  }

  Value* constant(const std::string& name, Tensor t) {
    return graph_.add_constant(graph_.unique_name(name), std::move(t));
  }

  /// Before `next`, under the names of `cause`.
  Value* add_node(const Node& next, const Node& cause, const char* op, std::vector<Value*> inputs, Type type,
                  AttributeList attributes = {}) {
    Value* given = graph_.add_value(graph_.unique_name(cause.output(0)->name() + "/" + op), std::move(type));
    Node* made = graph_.add_node(op, std::move(inputs), {given}, std::move(attributes), given->name());
    set_origins(*made, origins_of(cause));
    set_beside(*made);
    order_.insert(&next, *made);
    return given;
  }

  /// A node that computes the result of `n` of what that gave before, and of more.
  Node& add_behind(Node& n, const char* op, std::vector<Value*> more, Type type) {
    Value* const result = n.output(0);
    Value* const part = graph_.add_value(graph_.unique_name(result->name() + "/packed"), std::move(type));
    n.set_output(0, part);
    more.insert(more.begin(), part);
    Node* made = graph_.add_node(op, std::move(more), {result}, {}, result->name());
    set_origins(*made, origins_of(n));
    order_.insert(order_.next(&n), *made);
    return *made;
  }
  Node& add_behind(Node& n, const char* op, Value* operand) {
    return add_behind(n, op, {operand}, n.output(0)->type);
  }

  bool product(Node& n, bool is_row_first) {
    const Source s = source_of(n.input(1));
    if (s.dequantize == nullptr || is_integer_product(n, *s.dequantize)) return false;
    if (is_op(n, "Gemm") && rank_of(n.input(0)) != 2) return false;
    const Packed* w = packed_of(s, is_row_first == (s.transpose != nullptr));
    if (w == nullptr) return false;
    Value* x = n.input(0);
    if (is_op(n, "Gemm") && int_attribute(n, "transA", 0) != 0)
      x = add_node(n, n, "Transpose", {x}, transposed(x->type), {{"perm", std::vector<int64_t>{1, 0}}});
    if (w->factors != nullptr) x = add_node(n, n, "Mul", {x, w->factors}, x->type);
    const Sum sum = sum_of(n);
    become(n, "MatMulNBits", {x, w->levels, w->scales, w->zeros},
           {{"K", w->form.depth},
            {"N", w->form.rows},
            {"bits", int64_t{w->form.bits}},
            {"block_size", w->form.block}});
    finish(n, sum);
    return true;
  }

  /// What Gemm does besides the product.
  struct Sum {
    double alpha = 1, beta = 1;
    Value* c = nullptr;
  };
  static Sum sum_of(const Node& n) {
    if (!is_op(n, "Gemm")) return {};
    Sum s{float_attribute(n, "alpha", 1), float_attribute(n, "beta", 1), n.input(2)};
    if (s.beta == 0) s.c = nullptr;
    return s;
  }

  /// alpha * product + beta * C.
  void finish(Node& product, const Sum& sum) {
    Node* last = &product;
    const DType type = dtype_of(product.output(0));
    if (sum.alpha != 1) last = &add_behind(*last, "Mul", number(product, sum.alpha, type));
    if (sum.c == nullptr) return;
    Value* c = sum.c;
    if (sum.beta != 1) c = add_node(product, product, "Mul", {c, number(product, sum.beta, type)}, c->type);
    add_behind(*last, "Add", c);
  }

  Value* number(const Node& n, double x, DType type) {
    return constant(n.output(0)->name() + "/factor", convert(Tensor::scalar(static_cast<float>(x)), type));
  }

  static Type transposed(Type type) {
    std::swap((*type.dims)[0], (*type.dims)[1]);
    return type;
  }

  bool gather(Node& n) {
    const Source s = source_of(n.input(0));
    if (s.dequantize == nullptr || s.transpose != nullptr || n.input(1) == nullptr) return false;
    const int64_t axis = int_attribute(n, "axis", 0);
    if (axis != 0 && axis != -2) return false;
    const DType index = dtype_of(n.input(1));
    if ((index != DType::kInt64 && index != DType::kInt32) || rank_of(n.input(1)) < 0) return false;
    const Packed* w = packed_of(s, false);
    if (w == nullptr) return false;
    const int64_t filled = w->form.blocks() * w->form.block;
    become(n, "GatherBlockQuantized", {w->levels, n.input(1), w->scales, w->zeros},
           {{"bits", int64_t{w->form.bits}},
            {"block_size", w->form.block},
            {"gather_axis", int64_t{0}},
            {"quantize_axis", int64_t{1}}});
    Node* last = &n;
    if (filled != w->form.depth) last = &cut(n, filled, w->form.depth);
    if (w->factors != nullptr) add_behind(*last, "Mul", w->factors);
    return true;
  }

  /// The first `depth` numbers of each row of `filled`.
  Node& cut(Node& n, int64_t filled, int64_t depth) {
    Type type = n.output(0)->type;
    if (type.has_shape()) type.dims->back() = Dim(filled);
    const std::string name = n.output(0)->name();
    const auto ints = [&](const char* what, int64_t i) {
      return constant(name + what, Tensor::vector(std::vector<int64_t>{i}));
    };
    return add_behind(n, "Slice", {ints("/first", 0), ints("/last", depth), ints("/axis", -1)},
                      std::move(type));
  }

  /// Keeps its name, its output and what is recorded of it.
  static void become(Node& n, const char* op, std::vector<Value*> inputs, AttributeList attributes) {
    if (inputs.back() == nullptr) inputs.pop_back();
    const std::vector<std::string> origins = origins_of(n);
    n.op_type = op;
    n.domain = kContrib;
    n.set_inputs(std::move(inputs));
    n.attributes.clear();
    for (auto& [name, value] : attributes) n.attributes.emplace_back(name, std::move(value));
    set_origins(n, origins);
  }

  Model& model_;
  Graph& graph_;
  NodeOrder order_;
  std::map<Key, Packed> packed_;
  std::set<const Node*> dequantized_, transposes_;
};

bool run(Model& model) { return WeightPacker(model).run(); }

}  // namespace

constinit const PassDef def = {
    .name = "pack_weights",
    .summary = "products, Gather and Conv read constants behind DequantizeLinear as levels of 2, 4 or 8 bits",
    .conditions =
        "MatMul and Gemm with a constant matrix of 4,096 integers of 2, 4 or 8 bits or "
        "more "
        "on the right behind DequantizeLinear, also transposed, and Gather of its rows. One scale for the "
        "matrix, for each row or column, or for each block along what is added up, which a power of two from "
        "16 on divides; zero points are constants, and where each place of a row has a scale of its own, "
        "equal. Not where the left operand is quantized as well and the product can be one of integers, nor "
        "where the node is held in a floating-point type. 16,384 weights of Conv without groups or more "
        "are marked as stored so, in every form of scales, if that takes at most half the memory of float32 "
        "numbers.",
    .run = run,
};

}  // namespace assay::pass_pack_weights
