// The formula of layer normalization over the last axes, written in Sub, Pow, ReduceMean, Sqrt and Div, with
// or without scale and shift, becomes a LayerNorm region.
#include <algorithm>
#include <cmath>

#include "analysis/extents.h"
#include "analysis/match.h"
#include "passes/pass_list.h"
#include "passes/region.h"

namespace assay::pass_fuse_layer_norm {
namespace {

/// The number of last axes that a ReduceMean with keepdims takes the mean over; 0 when it is something else.
int64_t mean_axes(const Node& n) {
  if (!is_op(n, "ReduceMean") || int_attribute(n, "keepdims", 1) == 0) return 0;
  std::optional<std::vector<int64_t>> axes = ints_parameter(n, "axes", 1);
  const int rank = rank_of(n.input(0));
  if (!axes || axes->empty() || rank < 1) return 0;
  for (int64_t& a : *axes) a += a < 0 ? rank : 0;
  std::sort(axes->begin(), axes->end());
  for (size_t i = 0; i < axes->size(); ++i)
    if ((*axes)[i] != rank - static_cast<int64_t>(axes->size() - i)) return 0;
  return static_cast<int64_t>(axes->size());
}

/// The nodes of the pattern, in no order.
struct Found {
  Value* x = nullptr;
  int64_t axes = 0;
  double epsilon = 0;
  std::vector<const Node*> nodes;
};

/// x - ReduceMean(x).
bool match_centring(const Node& sub, Found& found) {
  if (!is_op(sub, "Sub")) return false;
  const Node* mean = producer_of(sub.input(1), "ReduceMean");
  if (mean == nullptr || mean->input(0) != sub.input(0)) return false;
  found.x = sub.input(0);
  found.axes = mean_axes(*mean);
  found.nodes.push_back(mean);
  found.nodes.push_back(&sub);
  return found.axes > 0;
}

/// Sqrt(ReduceMean(d^2) + epsilon).
bool match_deviation(const Node& sqrt, Found& found, const Value*& d) {
  const Node* add = producer_of(sqrt.input(0), "Add");
  if (add == nullptr) return false;
  const size_t side = scalar_of(add->input(1)) ? 0 : 1;
  const std::optional<double> epsilon = scalar_beside(add->input(1 - side), add->input(side));
  const Node* mean = producer_of(add->input(side), "ReduceMean");
  if (!epsilon || !(*epsilon >= 0) || !std::isfinite(*epsilon) || mean == nullptr) return false;
  const Node* square = mean->input(0) != nullptr ? mean->input(0)->producer() : nullptr;
  if (square == nullptr) return false;
  const bool is_square = (is_op(*square, "Pow") && is_scalar_beside(square->input(1), 2, square->input(0))) ||
                         (is_op(*square, "Mul") && square->input(0) == square->input(1));
  if (!is_square) return false;
  d = square->input(0);
  found.axes = mean_axes(*mean);
  found.epsilon = *epsilon;
  for (const Node* n : {square, mean, add, &sqrt}) found.nodes.push_back(n);
  return found.axes > 0;
}

/// d / Sqrt(...) or d * Reciprocal(Sqrt(...)).
std::optional<Found> match_normalized(const Node& n) {
  const Value* d = n.input(0);
  const Node* sqrt = is_op(n, "Div") ? producer_of(n.input(1), "Sqrt") : nullptr;
  Found found;
  for (size_t i = 0; sqrt == nullptr && is_op(n, "Mul") && i < 2; ++i)
    if (const Node* reciprocal = producer_of(n.input(i), "Reciprocal")) {
      sqrt = producer_of(reciprocal->input(0), "Sqrt");
      d = n.input(1 - i);
      found.nodes.push_back(reciprocal);
    }
  const Value* squared = nullptr;
  if (sqrt == nullptr || !match_deviation(*sqrt, found, squared)) return std::nullopt;
  Found centring;
  if (d == nullptr || d->producer() == nullptr || !match_centring(*d->producer(), centring))
    return std::nullopt;
  if (centring.axes != found.axes) return std::nullopt;
  found.x = centring.x;
  found.nodes.insert(found.nodes.end(), centring.nodes.begin(), centring.nodes.end());
  if (squared != d) {
    // Some exporters centre twice.
    Found again;
    if (squared->producer() == nullptr || !match_centring(*squared->producer(), again) ||
        again.x != found.x || again.axes != found.axes)
      return std::nullopt;
    found.nodes.insert(found.nodes.end(), again.nodes.begin(), again.nodes.end());
  }
  found.nodes.push_back(&n);
  return found;
}

/// Everything but the last node must be used inside only.
bool is_closed(const std::vector<const Node*>& nodes, const Node& last, const PassContext& context) {
  for (const Node* n : nodes) {
    if (n == &last) continue;
    if (context.is_pinned(n->output(0))) return false;
    for (const Node* user : n->output(0)->consumers())
      if (std::find(nodes.begin(), nodes.end(), user) == nodes.end()) return false;
  }
  return true;
}

/// The constant operand of `op` behind `last`, of the shape of the last axes; null when there is none.
Value* parameter_behind(const Node& last, const char* op, const Shape& last_axes, const PassContext& context,
                        const Node*& user) {
  const Node* n = context.sole_consumer(last.output(0));
  if (n == nullptr || !is_op(*n, op)) return nullptr;
  Value* other = other_input(*n, last.output(0));
  const UnalignedTensor* t = constant_of(other);
  if (t == nullptr || t->shape() != last_axes) return nullptr;
  user = n;
  return other;
}

std::optional<Patch> match(const Node& n, const PassContext& context) {
  if (dtype_of(n.output(0)) != DType::kFloat32 || (!is_op(n, "Div") && !is_op(n, "Mul"))) return std::nullopt;
  std::optional<Found> found = match_normalized(n);
  if (!found || dtype_of(found->x) != DType::kFloat32) return std::nullopt;
  const Dims* dims = dims_of(found->x);
  if (dims == nullptr) return std::nullopt;
  const std::optional<Shape> shape = known_shape(Dims(dims->end() - found->axes, dims->end()));
  if (!shape || shape->numel() == 0 || !is_closed(found->nodes, n, context)) return std::nullopt;
  std::vector<Value*> inputs = {found->x};
  const Node* last = &n;
  const Node* next = nullptr;
  bool has_scale = false, has_shift = false;
  if (Value* scale = parameter_behind(*last, "Mul", *shape, context, next)) {
    inputs.push_back(scale);
    found->nodes.push_back(next);
    last = next;
    has_scale = true;
  }
  if (Value* shift = parameter_behind(*last, "Add", *shape, context, next)) {
    // The same constant twice would be one input.
    if (std::find(inputs.begin(), inputs.end(), shift) == inputs.end()) {
      inputs.push_back(shift);
      found->nodes.push_back(next);
      has_shift = true;
    }
  }
  return make_region(kLayerNorm, in_order(found->nodes), context, inputs,
                     {{"axes", found->axes},
                      {"epsilon", static_cast<float>(found->epsilon)},
                      {"has_scale", int64_t{has_scale}},
                      {"has_shift", int64_t{has_shift}}});
}

}  // namespace

constinit const PassDef def = {
    .name = "fuse_layer_norm",
    .summary = "the formula of layer normalisation becomes one operation",
    .conditions =
        "float32. Both means are over the same last axes, which keep their places and whose extents are "
        "numbers above 0; epsilon is finite and not negative and does not raise the rank; the exponent is 2. "
        "Scale and shift are constants of the shape of these axes. Nothing else uses what lies between.",
    .match = match,
};

}  // namespace assay::pass_fuse_layer_norm
