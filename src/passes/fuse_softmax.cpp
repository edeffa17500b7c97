// Softmax over the last axis takes in the scale of its argument and a mask that is added to it.
#include <cmath>

#include "analysis/match.h"
#include "passes/pass_list.h"
#include "passes/pointwise_form.h"
#include "passes/region.h"

namespace assay::pass_fuse_softmax {
namespace {

/// The factor of y = x * factor; nothing when the node is not such a product.
std::optional<double> factor_of(const Node& n, Value*& x) {
  if (!is_op(n, "Mul") && !is_op(n, "Div")) return std::nullopt;
  const size_t side = scalar_of(n.input(1)) ? 0 : 1;
  const std::optional<double> number = scalar_of(n.input(1 - side));
  if (!number || (is_op(n, "Div") && side == 1)) return std::nullopt;
  x = n.input(side);
  if (!scalar_beside(n.input(1 - side), x)) return std::nullopt;
  const double factor = is_op(n, "Div") ? 1 / *number : *number;
  return std::isnormal(static_cast<float>(factor)) ? std::optional(factor) : std::nullopt;
}

/// True when the mask broadcasts over [..., queries, keys] as the kernel's strides allow: up to four
/// dimensions.
bool mask_fits(const Value* mask, const Shape& scores) {
  const std::optional<Shape> shape = shape_of(mask);
  return shape && dtype_of(mask) == DType::kFloat32 && shape->rank() <= scores.rank() && scores.rank() <= 4;
}

std::optional<Patch> match(const Node& n, const PassContext& context) {
  if (!is_op(n, "Softmax") || dtype_of(n.output(0)) != DType::kFloat32) return std::nullopt;
  const std::optional<Shape> shape = shape_of(n.output(0));
  if (!shape || shape->rank() < 2) return std::nullopt;
  const int64_t axis = int_attribute(n, "axis", context.model.opset() < 13 ? 1 : -1);
  if (axis != -1 && axis != shape->rank() - 1) return std::nullopt;
  std::vector<const Node*> nodes = {&n};
  Value* x = n.input(0);
  Value* mask = nullptr;
  const Node* add = producer_of(x, "Add");
  if (add != nullptr && context.sole_consumer(x) == &n) {
    // The scores are the operand of full shape; with two of them, the one that a product gives.
    for (size_t side = 0; side < 2 && mask == nullptr; ++side) {
      Value *scores = add->input(side), *other = add->input(1 - side);
      if (shape_of(scores) != shape || !mask_fits(other, *shape) || scores == other) continue;
      if (shape_of(other) == shape && (scores->producer() == nullptr || constant_of(other) == nullptr))
        continue;
      mask = other;
      x = scores;
      nodes.insert(nodes.begin(), add);
    }
  }
  double scale = 1;
  Value* scaled = nullptr;
  const Node* product = x->producer();
  if (product != nullptr && context.sole_consumer(x) == nodes.front() && shape_of(x) == shape)
    if (const std::optional<double> factor = factor_of(*product, scaled);
        factor && shape_of(scaled) == shape) {
      scale = *factor;
      x = scaled;
      nodes.insert(nodes.begin(), product);
    }
  if (nodes.size() == 1) return std::nullopt;
  std::vector<Value*> inputs = {x};
  if (mask != nullptr) inputs.push_back(mask);
  return make_region(kSoftmax, nodes, context, inputs,
                     {{"scale", static_cast<float>(scale)}, {"has_mask", int64_t{mask != nullptr}}});
}

}  // namespace

constinit const PassDef def = {
    .name = "fuse_softmax",
    .summary = "softmax takes in the scale of its argument and an added mask",
    .conditions =
        "float32, extents that are numbers, softmax over the last axis. The factor is a one-element constant "
        "that does not raise the rank, finite and normal in float32; the mask broadcasts to the scores, of "
        "at most four axes.",
    .match = match,
};

}  // namespace assay::pass_fuse_softmax
