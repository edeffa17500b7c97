// QLinearAveragePool: Y = quantize(the mean of each window of dequantize(X)), over the elements inside the
// image, or with count_include_pad over those inside the padded image. Channels second or last.
#include "ops/contrib/channels_last.h"
#include "ops/contrib/quantized.h"
#include "ops/nn/pool.h"
#include "ops/op_list.h"
#include "ops/work.h"

namespace assay::op_ms_QLinearAveragePool {
namespace {

void infer(InferContext& c) {
  check_quantized(c, {0, 1, 2});
  check_quantized(c, {0, 3, 4});
  if (has_channels_last(c))
    infer_channels_last(c, infer_pool);
  else
    infer_pool(c);
}

void pool(EvalContext& c, double u, uint64_t key) {
  const PoolPlan plan = plan_pool(c);
  const bool count_padding = c.attr_int("count_include_pad") != 0;
  const Tensor x = dequantized(c, {0, 1, 2});
  Tensor y = Tensor::allocate(DType::kFloat64, plan.output);
  const int64_t in_size = plan.window.in_size(), out_size = plan.window.out_size();
  const double* px = x.data<double>();
  double* py = y.mutable_data<double>();
  for_each_window(plan, [&](int64_t plane, int64_t position, WindowTaps& taps) {
    double sum = 0;
    taps.for_each([&](int64_t offset) { sum += px[plane * in_size + offset]; });
    const int64_t count = count_padding ? taps.count_with_padding() : taps.count();
    py[plane * out_size + position] = sum / static_cast<double>(count);
  });
  double taps = 4;
  for (const int64_t extent : plan.window.kernel) taps *= static_cast<double>(extent);
  const Requantizer requantize(c, 3, 4, c.input(0).dtype(), u, key);
  c.set_output(0, requantize(y, largest_operand(c, {0, 1, 2}), taps));
}

void compute(EvalContext& c, double u, uint64_t key) {
  if (has_channels_last(c))
    eval_channels_last(c, [=](EvalContext& turned) { pool(turned, u, key); });
  else
    pool(c, u, key);
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  X: T
in  x_scale: float
in  x_zero_point: T ?
in  y_scale: float
in  y_zero_point: T ?
out Y: T
attr ceil_mode: int = 0
attr pads: ints
attr auto_pad: string = "NOTSET"
attr strides: ints
attr kernel_shape: ints required
attr channels_last: int = 0
attr count_include_pad: int = 0
type T: uint8 int8)",
     infer, eval_quantized<compute>},
};

}  // namespace

constinit const OpDef def = {
    .domain = "com.microsoft",
    .name = "QLinearAveragePool",
    .versions = kVersions,
    .numerics = {.perturb = perturb_quantized<compute>},
    .types = EvalTypes::kAsStored,
    .facts =
        {
            .quantizing_scale = 3,
            .extra_steps = window_steps,
        },
};

}  // namespace assay::op_ms_QLinearAveragePool
