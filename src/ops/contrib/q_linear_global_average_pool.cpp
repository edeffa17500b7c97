// QLinearGlobalAveragePool: Y = quantize(the mean of every plane of dequantize(X)). Channels second or last.
#include "ops/contrib/channels_last.h"
#include "ops/contrib/quantized.h"
#include "ops/nn/global_pool.h"
#include "ops/op_list.h"

namespace assay::op_ms_QLinearGlobalAveragePool {
namespace {

void infer(InferContext& c) {
  check_quantized(c, {0, 1, 2});
  check_quantized(c, {0, 3, 4});
  if (has_channels_last(c))
    infer_channels_last(c, infer_global_pool);
  else
    infer_global_pool(c);
}

void pool(EvalContext& c, double u, uint64_t key) {
  const double roundings = static_cast<double>(plane_size(c)) + 4;
  EvalContext real(c.node(), c.op(), c.version(), {dequantized(c, {0, 1, 2})});
  reduce_planes(real, [](const double* x, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += x[i];
    return sum / static_cast<double>(n);
  });
  const Requantizer requantize(c, 3, 4, c.input(0).dtype(), u, key);
  c.set_output(0, requantize(real.outputs()[0], largest_operand(c, {0, 1, 2}), roundings));
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
in  x_zero_point: T
in  y_scale: float
in  y_zero_point: T
out Y: T
attr channels_last: int = 0
type T: uint8 int8)",
     infer, eval_quantized<compute>},
};

}  // namespace

constinit const OpDef def = {
    .domain = "com.microsoft",
    .name = "QLinearGlobalAveragePool",
    .versions = kVersions,
    .numerics = {.perturb = perturb_quantized<compute>},
    .types = EvalTypes::kAsStored,
    .facts =
        {
            .quantizing_scale = 3,
        },
};

}  // namespace assay::op_ms_QLinearGlobalAveragePool
