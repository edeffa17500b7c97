// Adam: one step along the running average of the gradients, divided by the root of that of their squares;
// both averages are corrected for having begun at zero.
#include "ops/op_list.h"
#include "ops/training/optimizer.h"

namespace assay::op_training_Adam {
namespace {

constexpr size_t kStates = 2;

void infer(InferContext& c) { infer_update(c, kStates); }

template <typename N>
std::vector<std::vector<N>> compute(const EvalContext& c) {
  using std::pow;
  using std::sqrt;
  const UpdateStep s(c);
  const N alpha = c.attr_float("alpha"), beta = c.attr_float("beta"), epsilon = c.attr_float("epsilon");
  const N decay = c.attr_float("norm_coefficient"), decay_after = c.attr_float("norm_coefficient_post");
  N rate = s.rate;
  if (s.count > 0) rate = rate * sqrt(N(1) - N(pow(beta, s.count))) / (N(1) - N(pow(alpha, s.count)));
  return update<N, kStates>(c, [=](const N& x, const N& g, std::array<N, kStates>& averages) {
    const N gradient = decay * x + g;
    averages[0] = alpha * averages[0] + (N(1) - alpha) * gradient;
    averages[1] = beta * averages[1] + (N(1) - beta) * gradient * gradient;
    return (N(1) - decay_after) * (x - rate * averages[0] / (sqrt(averages[1]) + epsilon));
  });
}

void eval(EvalContext& c) { set_update(c, kStates, compute<double>(c)); }
Tensor bound(EvalContext& c, double u, size_t i, const Tensor& y) {
  return update_errors(compute<Rounded>(c)[i], y.shape(), u);
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  R: T1
in  T: T2
in  inputs: T3 ...any
out outputs: T3 ...any
attr epsilon: float = 9.99999997e-07
attr norm_coefficient_post: float = 0
attr norm_coefficient: float = 0
attr beta: float = 0.999000013
attr alpha: float = 0.899999976
type T1: float double
type T2: int64
type T3: float double)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "ai.onnx.preview.training",
    .name = "Adam",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kCustom, .bound = bound},
};

}  // namespace assay::op_training_Adam
