// AveragePool: the mean of each window, over the elements inside the image, or with count_include_pad over
// those inside the padded image.
#include "ops/nn/pool.h"
#include "ops/op_list.h"
#include "ops/work.h"

namespace assay::op_onnx_AveragePool {
namespace {

void eval(EvalContext& c) {
  const PoolPlan plan = plan_pool(c);
  const bool count_padding = c.since() >= 7 && c.attr_int("count_include_pad") != 0;
  Tensor y = Tensor::allocate(DType::kFloat64, plan.output);
  const int64_t in_size = plan.window.in_size(), out_size = plan.window.out_size();
  const double* px = c.input(0).data<double>();
  double* py = y.mutable_data<double>();
  for_each_window(plan, [&](int64_t plane, int64_t position, WindowTaps& taps) {
    double sum = 0;
    taps.for_each([&](int64_t offset) { sum += px[plane * in_size + offset]; });
    const int64_t count = count_padding ? taps.count_with_padding() : taps.count();
    py[plane * out_size + position] = sum / static_cast<double>(count);
  });
  c.set_output(0, std::move(y));
}

int64_t terms(EvalContext& c) { return plan_pool(c).window.taps(); }

constexpr OpVersion kVersions[] = {
    {1, R"(
in  X: T
out Y: T
attr pads: ints
attr auto_pad: string = "NOTSET"
attr strides: ints
attr kernel_shape: ints required
type T: @float)",
     infer_pool, eval},
    {7, R"(
in  X: T
out Y: T
attr count_include_pad: int = 0
attr pads: ints
attr auto_pad: string = "NOTSET"
attr strides: ints
attr kernel_shape: ints required
type T: @float)",
     infer_pool, eval},
    {10, R"(
in  X: T
out Y: T
attr count_include_pad: int = 0
attr ceil_mode: int = 0
attr pads: ints
attr auto_pad: string = "NOTSET"
attr strides: ints
attr kernel_shape: ints required
type T: @float)",
     infer_pool, eval},
    {11, "same as AveragePool-10", infer_pool, eval},
    {19, R"(
in  X: T
out Y: T
attr count_include_pad: int = 0
attr dilations: ints
attr ceil_mode: int = 0
attr pads: ints
attr auto_pad: string = "NOTSET"
attr strides: ints
attr kernel_shape: ints required
type T: @float)",
     infer_pool, eval},
    {22, R"(
in  X: T
out Y: T
attr count_include_pad: int = 0
attr dilations: ints
attr ceil_mode: int = 0
attr pads: ints
attr auto_pad: string = "NOTSET"
attr strides: ints
attr kernel_shape: ints required
type T: @float_ir4)",
     infer_pool, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "AveragePool",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kAccumulating, .terms = terms},
    .facts =
        {
            .sums = SumsFact::kMean,
            .pool = PoolFact::kMean,
            .extra_steps = window_steps,
        },
};

}  // namespace assay::op_onnx_AveragePool
