// Adagrad: one step against the gradient, divided by the root of the sum of all squared gradients so far.
#include "ops/op_list.h"
#include "ops/training/optimizer.h"

namespace assay::op_training_Adagrad {
namespace {

constexpr size_t kStates = 1;

void infer(InferContext& c) { infer_update(c, kStates); }

template <typename N>
std::vector<std::vector<N>> compute(const EvalContext& c) {
  using std::sqrt;
  const UpdateStep s(c);
  const N rate = N(s.rate) / (N(1) + N(s.count) * N(c.attr_float("decay_factor")));
  const N decay = c.attr_float("norm_coefficient"), epsilon = c.attr_float("epsilon");
  return update<N, kStates>(c, [=](const N& x, const N& g, std::array<N, kStates>& squares) {
    const N gradient = decay * x + g;
    squares[0] += gradient * gradient;
    return x - rate * gradient / (sqrt(squares[0]) + epsilon);
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
attr norm_coefficient: float = 0
attr decay_factor: float = 0
attr epsilon: float = 9.99999997e-07
type T1: float double
type T2: int64
type T3: float double)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "ai.onnx.preview.training",
    .name = "Adagrad",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kCustom, .bound = bound},
};

}  // namespace assay::op_training_Adagrad
