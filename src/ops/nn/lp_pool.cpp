// LpPool: the p-norm of each window; padding counts as zeros.
#include "ops/nn/lp_norm.h"
#include "ops/nn/pool.h"
#include "ops/op_list.h"
#include "ops/work.h"

namespace assay::op_onnx_LpPool {
namespace {

void eval(EvalContext& c) {
  const PoolPlan plan = plan_pool(c);
  const LpNorm norm(c);
  Tensor y = Tensor::allocate(DType::kFloat64, plan.output);
  const int64_t in_size = plan.window.in_size(), out_size = plan.window.out_size();
  const double* px = c.input(0).data<double>();
  double* py = y.mutable_data<double>();
  for_each_window(plan, [&](int64_t plane, int64_t position, WindowTaps& taps) {
    double sum = 0;
    taps.for_each([&](int64_t offset) { sum += norm.term(px[plane * in_size + offset]); });
    py[plane * out_size + position] = norm.root(sum);
  });
  c.set_output(0, std::move(y));
}

/// The terms are positive: the sum's relative error is at most (n + p) u, and the root divides it by p.
int64_t terms(EvalContext& c) {
  return plan_pool(c).window.taps() + static_cast<int64_t>(std::ceil(LpNorm(c).p()));
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  X: T
out Y: T
attr p: float = 2
attr pads: ints
attr auto_pad: string = "NOTSET"
attr strides: ints
attr kernel_shape: ints
type T: @float)",
     infer_pool, eval},
    {2, R"(
in  X: T
out Y: T
attr p: int = 2
attr pads: ints
attr auto_pad: string = "NOTSET"
attr strides: ints
attr kernel_shape: ints required
type T: @float)",
     infer_pool, eval},
    {11, "same as LpPool-2", infer_pool, eval},
    {18, R"(
in  X: T
out Y: T
attr p: int = 2
attr pads: ints
attr auto_pad: string = "NOTSET"
attr ceil_mode: int = 0
attr dilations: ints
attr strides: ints
attr kernel_shape: ints required
type T: @float)",
     infer_pool, eval},
    {22, R"(
in  X: T
out Y: T
attr p: int = 2
attr pads: ints
attr auto_pad: string = "NOTSET"
attr ceil_mode: int = 0
attr dilations: ints
attr strides: ints
attr kernel_shape: ints required
type T: @float_ir4)",
     infer_pool, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "LpPool",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kAccumulating, .ulps = 4, .terms = terms},
    .facts =
        {
            .sums = SumsFact::kRootOfSquares,
            .extra_steps = window_steps,
        },
};

}  // namespace assay::op_onnx_LpPool
