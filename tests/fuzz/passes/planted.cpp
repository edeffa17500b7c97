#include "fuzz/passes/planted.h"

#include <algorithm>
#include <optional>

#include "analysis/channel_constants.h"
#include "analysis/match.h"
#include "fuzz/passes/drawn.h"
#include "passes/reductions.h"

namespace assay::fuzz {
namespace {

/// The node goes, and what it was given takes its place.
std::optional<Patch> drop(const Node& n, const PassContext& context, Value* kept) {
  if (kept == nullptr || n.output(0) == nullptr || !context.can_replace(n.output(0), kept))
    return std::nullopt;
  Patch patch(n);
  patch.remove(n);
  patch.replace(n.output(0), kept);
  return patch;
}

/// Relu behind any Clip, whatever its bounds are.
std::optional<Patch> drop_relu(const Node& n, const PassContext& context) {
  if (!is_op(n, "Relu") || producer_of(n.input(0), "Clip") == nullptr) return std::nullopt;
  return drop(n, context, n.input(0));
}

/// x + 0, also where x is -0.
std::optional<Patch> drop_zero(const Node& n, const PassContext& context) {
  if (!is_op(n, "Add") || scalar_beside(n.input(1), n.input(0)) != 0.0) return std::nullopt;
  return drop(n, context, n.input(0));
}

/// Any permutation.
std::optional<Patch> drop_transpose(const Node& n, const PassContext& context) {
  return is_op(n, "Transpose") ? drop(n, context, n.input(0)) : std::nullopt;
}

/// Two nodes with numbers on the right become one, whatever the numbers are.
std::optional<Patch> merge_numbers(const Node& n, const PassContext& context, const char* op, bool product) {
  const Node* before = is_op(n, op) ? producer_of(n.input(0), op) : nullptr;
  if (before == nullptr || context.sole_consumer(n.input(0)) != &n) return std::nullopt;
  const std::optional<double> a = scalar_beside(before->input(1), before->input(0)),
                              b = scalar_beside(n.input(1), n.input(0));
  const DType dtype = dtype_of(n.input(1));
  if (!a || !b || !is_float(dtype)) return std::nullopt;
  Patch patch(n);
  patch.remove(*before);
  patch.remove(n);
  const std::vector<double> both = {product ? *a * *b : *a + *b};
  patch.add(op, {before->input(0), patch.constant("both", float_vector(both, dtype).reshaped(Shape{}))}, {},
            n.output(0));
  return patch;
}

std::optional<Patch> merge_products(const Node& n, const PassContext& context) {
  return merge_numbers(n, context, "Mul", true);
}
std::optional<Patch> merge_sums(const Node& n, const PassContext& context) {
  return merge_numbers(n, context, "Add", false);
}

/// A factor into the weights and a term into the bias of a convolution, in their type, whatever comes out.
std::optional<Patch> fold_anything(const Node& n, const PassContext& context) {
  const bool product = is_op(n, "Mul");
  const Node* conv = product || is_op(n, "Add") ? producer_of(n.input(0), "Conv") : nullptr;
  if (conv == nullptr || context.sole_consumer(n.input(0)) != &n) return std::nullopt;
  const std::optional<LinearNode> linear = linear_node(*conv);
  const std::optional<double> c = scalar_beside(n.input(1), n.input(0));
  if (!linear || !c) return std::nullopt;
  std::vector<double> weight = to_doubles(*linear->weight);
  std::vector<double> bias = linear->bias != nullptr
                                 ? to_doubles(*linear->bias)
                                 : std::vector<double>(static_cast<size_t>(linear->channels));
  for (double& x : bias) x = product ? x * *c : x + *c;
  if (product)
    for (double& x : weight) x *= *c;
  const DType dtype = linear->weight->dtype();
  Patch patch(n);
  patch.remove(*conv);
  patch.remove(n);
  AttributeList attributes;
  for (const Attribute& a : conv->attributes) attributes.emplace_back(a.name, a.data);
  patch.add("Conv",
            {conv->input(0),
             patch.constant("weight", float_vector(weight, dtype).reshaped(linear->weight->shape())),
             patch.constant("bias", float_vector(bias, dtype))},
            std::move(attributes), n.output(0));
  return patch;
}

/// A mean of means, of integers, too.
std::optional<Patch> merge_means(const Node& n, const PassContext& context) {
  const Node* before = is_op(n, "ReduceMean") ? producer_of(n.input(0), "ReduceMean") : nullptr;
  if (before == nullptr || context.sole_consumer(n.input(0)) != &n || is_float(dtype_of(n.input(0))))
    return std::nullopt;
  std::optional<AxisReduction> both = reduction_of(*before);
  const std::optional<AxisReduction> second = reduction_of(n);
  if (!both || !second || !both->keeps || !second->keeps) return std::nullopt;
  for (const int64_t a : second->axes)
    if (std::find(both->axes.begin(), both->axes.end(), a) == both->axes.end()) both->axes.push_back(a);
  Patch patch(n);
  patch.remove(*before);
  patch.remove(n);
  add_reduction(patch, n, before->input(0), *both, n.output(0), context.model.opset());
  return patch;
}

/// erf(x) as tanh(1.128 x): near it, and not it.
std::optional<Patch> rough_erf(const Node& n, const PassContext&) {
  if (!is_op(n, "Erf") || dtype_of(n.input(0)) != DType::kFloat32) return std::nullopt;
  Patch patch(n);
  patch.remove(n);
  const Patch::Ref scaled = patch.add("Mul", {n.input(0), patch.constant("c", Tensor::scalar(1.128F))}, {},
                                      nullptr, n.input(0)->type);
  patch.add("Tanh", {scaled}, {}, n.output(0));
  return patch;
}

const Planted kPlanted[] = {
    {{.name = "planted_drop_relu", .match = drop_relu}, draw_eliminate_idempotent},
    {{.name = "planted_drop_zero", .match = drop_zero}, draw_eliminate_neutral},
    {{.name = "planted_drop_transpose", .match = drop_transpose}, draw_merge_transposes},
    {{.name = "planted_merge_products", .match = merge_products}, draw_merge_scalings},
    {{.name = "planted_merge_sums", .match = merge_sums}, draw_merge_scalings},
    {{.name = "planted_fold_anything", .match = fold_anything}, draw_fold_channel_affine},
    {{.name = "planted_merge_means", .match = merge_means}, draw_merge_reductions},
    {{.name = "planted_rough_erf", .match = rough_erf}, draw_fuse_gelu},
};

}  // namespace

std::span<const Planted> planted_passes() { return kPlanted; }

}  // namespace assay::fuzz
