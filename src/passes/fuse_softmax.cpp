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

bool is_over_last_axis(const Node& n, const Shape& shape, const Model& model) {
  const int64_t axis = int_attribute(n, "axis", model.opset() < 13 ? 1 : -1);
  return axis == -1 || axis == shape.rank() - 1;
}

/// The scores are the operand of full shape; with two of them, the one that a product gives.
bool are_scores(const Value* scores, const Value* other, const Shape& shape) {
  if (shape_of(scores) != shape || !mask_fits(other, shape) || scores == other) return false;
  return shape_of(other) != shape || (scores->producer() != nullptr && constant_of(other) != nullptr);
}

/// A softmax with what it takes in: softmax(scale * x + mask).
struct Masked {
  std::vector<const Node*> nodes;  ///< in order
  Value* x = nullptr;
  Value* mask = nullptr;
  double scale = 1;
};

void take_mask(Masked& m, const Shape& shape, const PassContext& context) {
  const Node* add = producer_of(m.x, "Add");
  if (add == nullptr || context.sole_consumer(m.x) != m.nodes.front()) return;
  for (const size_t side : {0, 1}) {
    if (!are_scores(add->input(side), add->input(1 - side), shape)) continue;
    m.x = add->input(side);
    m.mask = add->input(1 - side);
    m.nodes.insert(m.nodes.begin(), add);
    return;
  }
}

void take_scale(Masked& m, const Shape& shape, const PassContext& context) {
  const Node* product = m.x->producer();
  if (product == nullptr || context.sole_consumer(m.x) != m.nodes.front() || shape_of(m.x) != shape) return;
  Value* scaled = nullptr;
  const std::optional<double> factor = factor_of(*product, scaled);
  if (!factor || shape_of(scaled) != shape) return;
  m.scale = *factor;
  m.x = scaled;
  m.nodes.insert(m.nodes.begin(), product);
}

std::optional<Patch> match(const Node& n, const PassContext& context) {
  if (!is_op(n, "Softmax") || dtype_of(n.output(0)) != DType::kFloat32) return std::nullopt;
  const std::optional<Shape> shape = shape_of(n.output(0));
  if (!shape || shape->rank() < 2 || !is_over_last_axis(n, *shape, context.model)) return std::nullopt;
  Masked m{.nodes = {&n}, .x = n.input(0)};
  take_mask(m, *shape, context);
  take_scale(m, *shape, context);
  if (m.nodes.size() == 1) return std::nullopt;
  std::vector<Value*> inputs = {m.x};
  if (m.mask != nullptr) inputs.push_back(m.mask);
  return make_region(kSoftmax, m.nodes, context, inputs,
                     {{"scale", static_cast<float>(m.scale)}, {"has_mask", int64_t{m.mask != nullptr}}});
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
