// Momentum: one step along a decaying sum of the gradients, by the standard or by Nesterov's rule.
#include "ops/op_list.h"
#include "ops/training/optimizer.h"

namespace assay::op_training_Momentum {
namespace {

constexpr size_t kStates = 1;

void infer(InferContext& c) { infer_update(c, kStates); }

bool is_nesterov(const OpContext& c) {
  const std::string& mode = c.attr_string("mode");
  c.check(mode == "nesterov" || mode == "standard",
          "attribute 'mode' is '{}'; it must be nesterov or standard", mode);
  return mode == "nesterov";
}

template <typename N>
std::vector<std::vector<N>> compute(const EvalContext& c) {
  const UpdateStep s(c);
  const bool nesterov = is_nesterov(c);
  const N alpha = c.attr_float("alpha"), decay = c.attr_float("norm_coefficient"), rate = s.rate;
  const N beta = s.count > 0 ? c.attr_float("beta") : 1;
  return update<N, kStates>(c, [=](const N& x, const N& g, std::array<N, kStates>& momentum) {
    const N gradient = decay * x + g;
    momentum[0] = alpha * momentum[0] + beta * gradient;
    return x - rate * (nesterov ? gradient + alpha * momentum[0] : momentum[0]);
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
attr norm_coefficient: float required
attr beta: float required
attr mode: string required
attr alpha: float required
type T1: float double
type T2: int64
type T3: float double)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "ai.onnx.preview.training",
    .name = "Momentum",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kCustom, .bound = bound},
};

}  // namespace assay::op_training_Momentum
