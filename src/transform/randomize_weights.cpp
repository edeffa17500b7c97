#include "transform/randomize_weights.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "analysis/match.h"
#include "ops/node_facts.h"
#include "reference/evaluate.h"
#include "tensor/random_weights.h"

namespace assay {
namespace {

bool is_uniform(const UnalignedTensor& stored) {
  if (stored.dtype() != DType::kFloat32 || stored.numel() < 2) return false;
  const Tensor t = stored.aligned();
  const auto x = t.span<float>();
  return std::all_of(x.begin(), x.end(), [&](float v) { return v == x[0]; });
}

/// ConstantOfShape of a constant shape becomes an initializer.
void fold_generated(Model& model) {
  Graph& g = *model.graph;
  std::vector<std::pair<Value*, Tensor>> found;
  std::unordered_set<const Node*> folded;
  for (const auto& n : g.nodes()) {
    if (!is_op(*n, "ConstantOfShape") || constant_of(n->input(0)) == nullptr) continue;
    if (const BoundOp op = bind_op(*n, model)) {
      found.emplace_back(n->output(0), evaluate_node(*n, op, {n->input(0)->tensor().aligned()})[0]);
      folded.insert(n.get());
    }
  }
  g.remove_nodes_if([&](const Node& n) { return folded.contains(&n); });
  for (auto& [v, t] : found) v->set_tensor(std::move(t));
}

/// True when about half of a value is zeroed, as by a Relu: then products need twice the variance to keep the
/// scale (He et al. 2015, section 2.2). Follows nodes that only move or pool values.
bool is_rectified(const Value* v, const Model& model, int depth = 0) {
  const Node* n = v != nullptr ? v->producer() : nullptr;
  if (n == nullptr) return true;  // an image or the like: no negative values
  if (is_op(*n, "Relu") || is_op(*n, "LeakyRelu") || is_op(*n, "PRelu")) return true;
  const bool passes = hands_on(*n, model) || facts_of(*n, model).pool != PoolFact::kNone ||
                      is_op(*n, "Clip") || is_op(*n, "Dropout") || is_op(*n, "LRN");
  return passes && depth < 16 && is_rectified(n->input(0), model, depth + 1);
}

Init linear_init(const Node& n, const Shape& shape, const Model& model) {
  int64_t fan = shape.numel(1, shape.size());
  if (is_op(n, "ConvTranspose")) fan = shape[0] * shape.numel(2, shape.size());
  if (is_op(n, "MatMul") || (is_op(n, "Gemm") && int_attribute(n, "transB", 0) == 0))
    fan = shape[shape.size() - 2];
  fan = std::max<int64_t>(fan, 1);
  return is_rectified(n.input(0), model) ? Init::he_normal(fan) : Init::lecun_normal(fan);
}

/// True when the node's result is added to another: the end of a residual branch.
bool ends_branch(const Node& n) {
  const Value* y = n.output(0);
  return y != nullptr && std::any_of(y->consumers().begin(), y->consumers().end(),
                                     [](const Node* c) { return is_op(*c, "Add") || is_op(*c, "Sum"); });
}

/// The distribution of a constant in input `i` of a node; nothing when the node does not treat it as a
/// weight.
std::optional<Init> init_for(const Node& n, size_t i, const Shape& shape, const Model& model) {
  constexpr double kSmall = 0.05, kSpread = 0.25;
  if (is_op(n, "Conv") || is_op(n, "ConvTranspose") || is_op(n, "Gemm"))
    return i == 1 && shape.rank() >= 2 ? linear_init(n, shape, model) : Init::normal(kSmall);
  if (is_op(n, "MatMul") && shape.rank() >= 2) return linear_init(n, shape, model);
  if (is_op(n, "BatchNormalization")) {
    // A sum of branches of full size would grow with every block.
    if (i == 1 && ends_branch(n)) return Init::uniform(0.1, 0.3);
    return i == 1 || i == 4 ? Init::uniform(kSpread, 1) : Init::normal(kSmall);
  }
  if (is_op(n, "Mul") || is_op(n, "Div") || is_op(n, "PRelu")) return Init::uniform(kSpread, 1);
  if (is_op(n, "Add") || is_op(n, "Sub")) return Init::normal(kSmall);
  return std::nullopt;
}

/// Follows nodes that only rearrange: the first significant use.
std::optional<Init> init_at(const Value& v, const Shape& shape, const Model& model, int depth) {
  for (const Node* n : v.consumers())
    for (size_t i = 0; i < n->inputs().size(); ++i) {
      if (n->input(i) != &v) continue;
      if (const std::optional<Init> init = init_for(*n, i, shape, model)) return init;
      const Value* y = n->output(0);
      if (i != 0 || depth >= 4 || y == nullptr) continue;
      if (is_op(*n, "Unsqueeze") || is_op(*n, "Reshape") || is_op(*n, "Identity") || is_op(*n, "Cast")) {
        if (const std::optional<Init> init = init_at(*y, shape, model, depth + 1)) return init;
      } else if (is_op(*n, "Transpose") && shape_of(y)) {
        if (const std::optional<Init> init = init_at(*y, *shape_of(y), model, depth + 1)) return init;
      }
    }
  return std::nullopt;
}

}  // namespace

std::optional<Init> init_by_use(const Value& v, const Shape& shape, const Model& model) {
  return init_at(v, shape, model, 0);
}

int64_t randomize_weights(Model& model, uint64_t seed) {
  fold_generated(model);
  int64_t replaced = 0;
  for (const auto& v : model.graph->values()) {
    if (!v->tensor().defined() || !is_uniform(v->tensor())) continue;
    const Shape shape = v->tensor().shape();
    const std::optional<Init> init = init_by_use(*v, shape, model);
    if (!init) continue;
    v->set_tensor(random_weights(seed, v->name(), shape, *init));
    ++replaced;
  }
  return replaced;
}

}  // namespace assay
