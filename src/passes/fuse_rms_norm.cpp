// The formula of root-mean-square normalization over the last axes with a scale becomes an RmsNorm region.
#include <array>

#include "analysis/extents.h"
#include "analysis/match.h"
#include "passes/pass_list.h"
#include "passes/reductions.h"
#include "passes/region.h"

namespace assay::pass_fuse_rms_norm {
namespace {

struct Found {
  Value* x = nullptr;
  double epsilon = 0;
  int64_t axes = 0;
  std::vector<const Node*> nodes;
};

/// What adds to a mean square without making it negative, and what the attribute, a float32, can hold.
bool is_epsilon(double x) { return x >= 0 && static_cast<double>(static_cast<float>(x)) == x; }

/// The operator computes in float32.
bool computes_in_float32(DType t) {
  return t == DType::kFloat32 || t == DType::kFloat16 || t == DType::kBFloat16;
}

/// The producer when it is that operator and only `user` uses what it gives.
const Node* inner(const Value* v, const char* op, const Node& user, const PassContext& context) {
  const Node* n = producer_of(v, op);
  return n != nullptr && context.sole_consumer(v) == &user ? n : nullptr;
}

/// Sqrt(ReduceMean(x^2) + epsilon).
std::optional<Found> root_mean_square(const Node& sqrt, const PassContext& context) {
  const Node* add = inner(sqrt.input(0), "Add", sqrt, context);
  if (add == nullptr) return std::nullopt;
  const size_t side = scalar_of(add->input(1)) ? 0 : 1;
  const std::optional<double> epsilon = scalar_beside(add->input(1 - side), add->input(side));
  const Node* mean = inner(add->input(side), "ReduceMean", *add, context);
  const std::optional<AxisReduction> r = mean != nullptr ? reduction_of(*mean) : std::nullopt;
  const Node* square = mean != nullptr ? inner(mean->input(0), "Pow", *mean, context) : nullptr;
  if (square == nullptr && mean != nullptr) square = inner(mean->input(0), "Mul", *mean, context);
  if (!epsilon || !is_epsilon(*epsilon) || !r || !r->keeps || square == nullptr) return std::nullopt;
  if (is_op(*square, "Pow") ? !is_scalar_beside(square->input(1), 2, square->input(0))
                            : square->input(0) != square->input(1))
    return std::nullopt;
  const int rank = rank_of(square->input(0));
  for (size_t i = 0; i < r->axes.size(); ++i)
    if (r->axes[i] != rank - static_cast<int64_t>(r->axes.size() - i)) return std::nullopt;
  return Found{square->input(0), *epsilon, static_cast<int64_t>(r->axes.size()), {square, mean, add, &sqrt}};
}

/// x / s, x * (1 / s) or x * Reciprocal(s), with s as above.
std::optional<Found> normalized(const Node& n, const PassContext& context) {
  if (is_op(n, "Div")) {
    const Node* sqrt = inner(n.input(1), "Sqrt", n, context);
    std::optional<Found> found = sqrt != nullptr ? root_mean_square(*sqrt, context) : std::nullopt;
    if (!found || found->x != n.input(0)) return std::nullopt;
    found->nodes.push_back(&n);
    return found;
  }
  for (const Value* v : n.inputs()) {
    if (!is_op(n, "Mul") || n.inputs().size() != 2) return std::nullopt;
    const Node* inverse = inner(v, "Reciprocal", n, context);
    if (inverse == nullptr) inverse = inner(v, "Div", n, context);
    if (inverse == nullptr ||
        (is_op(*inverse, "Div") && !is_scalar_beside(inverse->input(0), 1, inverse->input(1))))
      continue;
    const Node* sqrt = inner(inverse->input(inverse->inputs().size() - 1), "Sqrt", *inverse, context);
    std::optional<Found> found = sqrt != nullptr ? root_mean_square(*sqrt, context) : std::nullopt;
    if (!found || found->x != other_input(n, v)) continue;
    found->nodes.push_back(inverse);
    found->nodes.push_back(&n);
    return found;
  }
  return std::nullopt;
}

std::optional<Patch> match(const Node& n, const PassContext& context) {
  if (!is_op(n, "Mul") || n.inputs().size() != 2 || n.output(0) == nullptr) return std::nullopt;
  for (size_t side = 0; side < 2; ++side) {
    Value *v = n.input(side), *scale = n.input(1 - side);
    if (v == nullptr || v->producer() == nullptr || context.sole_consumer(v) != &n) continue;
    std::optional<Found> found = normalized(*v->producer(), context);
    const Dims* dims = found ? dims_of(found->x) : nullptr;
    const UnalignedTensor* t = constant_of(scale);
    if (dims == nullptr || t == nullptr || t->dtype() != dtype_of(found->x)) continue;
    if (!computes_in_float32(t->dtype())) continue;
    const std::optional<Shape> last = known_shape(Dims(dims->end() - found->axes, dims->end()));
    if (!last || last->numel() == 0 || t->shape() != *last) continue;
    found->nodes.push_back(&n);
    return make_region(kRmsNorm, in_order(found->nodes), context, std::array{found->x, scale},
                       {{"axes", found->axes}, {"epsilon", static_cast<float>(found->epsilon)}});
  }
  return std::nullopt;
}

}  // namespace

constinit const PassDef def = {
    .name = "fuse_rms_norm",
    .summary = "the formula of root-mean-square normalisation becomes one operation",
    .conditions =
        "float32, float16 and bfloat16, in all of which the operator computes in float32. The mean is over "
        "the last axes, which keep their places and whose extents are numbers above 0; epsilon is not "
        "negative, does not raise the rank and is a float32; the exponent is 2. The scale is a constant of "
        "the shape of these axes and of the type of x. Nothing else uses what lies between.",
    .match = match,
};

}  // namespace assay::pass_fuse_rms_norm
