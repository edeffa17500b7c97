// Fused operators of ONNX Runtime's optimizer for common formulas, for embeddings and for products with their
// activation, and RotaryEmbedding, become standard operators again: then every kernel and fusion there is
// serves them. float32 and known shapes; attention is in lower_attention.cpp.
#include <array>
#include <cmath>
#include <limits>

#include "analysis/extents.h"
#include "analysis/match.h"
#include "ops/contrib/fused_activation.h"
#include "ops/op_set.h"
#include "passes/lower_fused.h"
#include "passes/pass_list.h"

namespace assay::pass_lower_fused {
namespace {

constexpr std::string_view kMicrosoft = "com.microsoft";

/// Whether the axes before the last two broadcast.
bool are_batches(const Shape& a, const Shape& b) {
  for (size_t i = 3; i <= std::min(a.size(), b.size()); ++i) {
    const int64_t x = a[a.size() - i], y = b[b.size() - i];
    if (x != y && x != 1 && y != 1) return false;
  }
  return true;
}

/// A vector along the last axis, or none.
bool fits_rows(const Node& n, size_t i) {
  if (n.input(i) == nullptr) return true;
  const std::optional<Shape> x = shape_of(n.input(0)), v = shape_of(n.input(i));
  return x->size() > 0 && *v == Shape{x->back()};
}

/// x / 2 * (1 + f), which the pass fuse_gelu knows. The half comes first: twice a large x is out of range.
Term half_of_one_more(Formula& f, const Term& x, const Term& inner) {
  const Term half = f.binary("Mul", x, f.number(0.5F));
  return f.binary("Mul", half, f.binary("Add", inner, f.number(1)));
}

Term gelu(Formula& f, const Term& x) {
  return half_of_one_more(f, x,
                          f.unary("Erf", f.binary("Div", x, f.number(static_cast<float>(std::sqrt(2.0))))));
}

Term gelu_tanh(Formula& f, const Term& x) {
  const Term cube = f.binary("Mul", f.binary("Mul", x, x), x);
  const Term sum = f.binary("Add", x, f.binary("Mul", cube, f.number(0.044715F)));
  return half_of_one_more(
      f, x, f.unary("Tanh", f.binary("Mul", sum, f.number(static_cast<float>(std::sqrt(2 / M_PI))))));
}

std::optional<Patch> activation(const Node& n, const PassContext& context) {
  const std::string_view op = n.op_type;
  if (!fits_rows(n, 1)) return std::nullopt;
  Writer w(n, context);
  Term x = w.in(0);
  if (w.has(1)) x = w.f.binary("Add", x, w.in(1));
  if (op == "FastGelu") return w.done(gelu_tanh(w.f, x));
  if (op != "QuickGelu") return w.done(gelu(w.f, x));
  const double alpha = float_attribute(n, "alpha", 1.70200002F);
  const Term scaled = alpha == 1 ? x : w.f.binary("Mul", x, w.f.number(static_cast<float>(alpha)));
  return w.done(w.f.binary("Mul", x, w.f.unary("Sigmoid", scaled)));
}

std::optional<Patch> skip_norm(const Node& n, const PassContext& context, bool centred) {
  const size_t beta = centred ? 3 : n.inputs().size(), bias = centred ? 4 : 3;
  const std::optional<Shape> x = shape_of(n.input(0)), skip = shape_of(n.input(1));
  if (x->size() < 2 || !broadcasts_to(*skip, *x)) return std::nullopt;
  if (!fits_rows(n, 2) || !fits_rows(n, beta) || !fits_rows(n, bias) || n.input(2) == nullptr)
    return std::nullopt;
  Writer w(n, context);
  if (w.wants(1) || w.wants(2)) return std::nullopt;
  Term sum = w.f.binary("Add", w.in(0), w.in(1));
  if (w.has(bias)) sum = w.f.binary("Add", sum, w.in(bias));
  const auto epsilon = static_cast<float>(float_attribute(n, "epsilon", kEpsilon));
  Term y = w.f.binary("Mul", w.f.normalize(sum, centred, epsilon), w.in(2));
  if (w.has(beta)) y = w.f.binary("Add", y, w.in(beta));
  if (w.wants(3)) w.f.give(sum, n.output(3));
  return w.done(y);
}

std::optional<Patch> simplified_norm(const Node& n, const PassContext& context) {
  const std::optional<Shape> x = shape_of(n.input(0));
  const int64_t axis = int_attribute(n, "axis", -1);
  if (x->size() < 1 || (axis != -1 && axis != x->rank() - 1) || !fits_rows(n, 1) || n.input(1) == nullptr)
    return std::nullopt;
  Writer w(n, context);
  if (w.wants(1)) return std::nullopt;
  const auto epsilon = static_cast<float>(float_attribute(n, "epsilon", 9.99999975e-06));
  return w.done(w.f.binary("Mul", w.f.normalize(w.in(0), false, epsilon), w.in(1)));
}

std::optional<Patch> fused_matmul(const Node& n, const PassContext& context) {
  if (int_attribute(n, "transBatchA", 0) != 0 || int_attribute(n, "transBatchB", 0) != 0) return std::nullopt;
  Writer w(n, context);
  Term factors[2] = {w.in(0), w.in(1)};
  for (const auto& [i, name] : {std::pair(0, "transA"), std::pair(1, "transB")}) {
    const size_t rank = factors[i].shape.size();
    if (rank < 2) return std::nullopt;
    if (int_attribute(n, name, 0) == 0) continue;
    std::vector<int64_t> perm(rank);
    for (size_t d = 0; d < rank; ++d) perm[d] = static_cast<int64_t>(d);
    std::swap(perm[rank - 1], perm[rank - 2]);
    factors[i] = w.f.transpose(factors[i], perm);
  }
  const Shape &a = factors[0].shape, &b = factors[1].shape;
  if (a.back() != b[b.size() - 2] || !are_batches(a, b)) return std::nullopt;
  const Term product = w.f.matmul(factors[0], factors[1]);
  const auto alpha = static_cast<float>(float_attribute(n, "alpha", 1));
  return w.done(alpha == 1 ? product : w.f.binary("Mul", product, w.f.number(alpha)));
}

/// The channels of a group are one channel of an image; what scales and shifts them follows.
std::optional<Patch> group_norm(const Node& n, const PassContext& context) {
  const std::optional<Shape> x = shape_of(n.input(0)), scale = shape_of(n.input(1)),
                             shift = shape_of(n.input(2));
  const int64_t groups = int_attribute(n, "num_groups", 0);
  if (!x || !scale || !shift || x->size() < 2 || groups < 1 || (*x)[1] % groups != 0 || *scale != *shift)
    return std::nullopt;
  if (*scale != Shape{context.model.opset() < 21 ? groups : (*x)[1]}) return std::nullopt;
  Writer w(n, context);
  Formula& f = w.f;
  const int64_t scales = scale->numel();
  const Term y = f.instance_norm(f.reshape(w.in(0), {(*x)[0], groups, x->numel() / (*x)[0] / groups}),
                                 static_cast<float>(float_attribute(n, "epsilon", 1e-5)));
  const Term rows = f.reshape(y, {(*x)[0], scales, x->numel() / (*x)[0] / scales});
  const Term scaled = f.binary("Mul", rows, f.reshape(w.in(1), {scales, 1}));
  return w.done(f.reshape(f.binary("Add", scaled, f.reshape(w.in(2), {scales, 1})), *x));
}

/// Parameters that are not given have defaults, those of the operators. Nothing for what cannot be evaluated.
std::optional<Term> activated(Writer& w, const Term& x, const std::vector<float>& parameters) {
  Formula& f = w.f;
  const std::string_view name = string_attribute(w.n, "activation", "");
  if (name.empty()) return x;
  if (parameters.size() > 3) return std::nullopt;
  if (name == "Clip") {
    if (w.context.model.opset() < 11) return std::nullopt;
    constexpr float kMax = std::numeric_limits<float>::max();
    const float low = !parameters.empty() ? parameters[0] : -kMax,
                high = parameters.size() > 1 ? parameters[1] : kMax;
    if (!(low <= high)) return std::nullopt;
    return f.node("Clip", {x.ref, f.number(low).ref, f.number(high).ref}, {}, x.dtype, x.shape);
  }
  const OpDef* op = is_activation(name) ? ops_of(w.context.model).find("", name) : nullptr;
  if (op == nullptr || op->facts.elementwise != 1) return std::nullopt;
  AttributeList attributes;
  const auto& names = op->facts.pointwise.parameters;
  for (size_t i = 0; i < std::min(parameters.size(), names.size()); ++i)
    if (!names[i].empty()) attributes.emplace_back(std::string(names[i]), parameters[i]);
  return f.node(std::string(op->name).c_str(), {x.ref}, std::move(attributes), x.dtype, x.shape);
}

/// Attributes and inputs of an operator that a fused one does before its activation.
AttributeList product_attributes(const Node& n) {
  AttributeList list;
  for (const Attribute& a : n.attributes)
    if (!a.name.starts_with("activation")) list.emplace_back(a.name, a.data);
  return list;
}

std::vector<Patch::Ref> product_inputs(const Node& n) {
  std::vector<Patch::Ref> inputs = {n.input(0), n.input(1)};
  if (n.input(2) != nullptr) inputs.emplace_back(n.input(2));
  return inputs;
}

std::optional<Patch> convolution(const Node& n, const PassContext& context) {
  const std::optional<Shape> out = shape_of(n.output(0));
  if (!out || n.input(1) == nullptr || (n.input(3) != nullptr && shape_of(n.input(3)) != out))
    return std::nullopt;
  std::vector<float> parameters;
  if (const Attribute* a = n.find_attribute("activation_params"))
    if (const auto* list = a->get_if<std::vector<float>>()) parameters = *list;
  Writer w(n, context);
  Term y = w.f.node("Conv", product_inputs(n), product_attributes(n), DType::kFloat32, *out);
  if (w.has(3)) y = w.f.binary("Add", y, w.in(3));
  const std::optional<Term> result = activated(w, y, parameters);
  return result ? std::optional(w.done(*result)) : std::nullopt;
}

std::optional<Patch> gemm(const Node& n, const PassContext& context) {
  const std::optional<Shape> out = shape_of(n.output(0));
  // Gemm takes no less than three inputs before opset 11.
  if (!out || n.input(1) == nullptr || (n.input(2) == nullptr && context.model.opset() < 11))
    return std::nullopt;
  std::vector<float> parameters;
  for (const char* name : {"activation_alpha", "activation_beta", "activation_gamma"}) {
    if (n.find_attribute(name) == nullptr) break;
    parameters.push_back(static_cast<float>(float_attribute(n, name, 0)));
  }
  Writer w(n, context);
  const Term y = w.f.node("Gemm", product_inputs(n), product_attributes(n), DType::kFloat32, *out);
  const std::optional<Term> result = activated(w, y, parameters);
  return result ? std::optional(w.done(*result)) : std::nullopt;
}

bool is_float32_of_known_shapes(const Node& n) {
  for (const Value* v : n.inputs()) {
    if (v == nullptr) continue;
    const std::optional<Shape> shape = shape_of(v);
    if (!shape || shape->numel() == 0) return false;
    const DType dtype = dtype_of(v);
    if (dtype != DType::kFloat32 && dtype != DType::kInt64 && dtype != DType::kInt32) return false;
  }
  return n.input(0) != nullptr && n.output(0) != nullptr && dtype_of(n.output(0)) == DType::kFloat32;
}

std::optional<Patch> lower_standard(const Node& n, const PassContext& context) {
  const std::string_view op = n.op_type;
  if (op == "SimplifiedLayerNormalization") return simplified_norm(n, context);
  if (op == "GroupNormalization") return group_norm(n, context);
  if (op == "RotaryEmbedding") return rotary(n, context, {.cosines = 1, .sines = 2, .positions = 3});
  return std::nullopt;
}

std::optional<Patch> lower_microsoft(const Node& n, const PassContext& context) {
  const std::string_view op = n.op_type;
  if (op == "SimplifiedLayerNormalization") return simplified_norm(n, context);
  if (op == "RotaryEmbedding") return rotary(n, context, {.cosines = 2, .sines = 3, .positions = 1});
  if (op == "FastGelu" || op == "BiasGelu" || op == "Gelu" || op == "QuickGelu")
    return activation(n, context);
  if (op == "SkipLayerNormalization") return skip_norm(n, context, true);
  if (op == "SkipSimplifiedLayerNormalization") return skip_norm(n, context, false);
  if (op == "EmbedLayerNormalization") return embedding(n, context);
  if (op == "FusedConv") return convolution(n, context);
  if (op == "FusedGemm") return gemm(n, context);
  if (op == "FusedMatMul" || op == "TransposeMatMul") return fused_matmul(n, context);
  return std::nullopt;
}

std::optional<Patch> match(const Node& n, const PassContext& context) {
  if ((n.domain != kMicrosoft && !n.domain.empty()) || context.model.opset() < 10 ||
      !is_float32_of_known_shapes(n))
    return std::nullopt;
  return n.domain.empty() ? lower_standard(n, context) : lower_microsoft(n, context);
}

}  // namespace

constinit const PassDef def = {
    .name = "lower_fused",
    .summary = "operators that stand for formulas become those formulas",
    .conditions =
        "Opset 10 or later, float32 (integers as indices), extents that are numbers above 0 and fit the "
        "formula. Clip as an activation: min is not above max. What the formula computes on the way stays in "
        "the range of float32.",
    .match = match,
};

}  // namespace assay::pass_lower_fused
