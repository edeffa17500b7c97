// QLinearSoftmax: Y = quantize(softmax(dequantize(X))), along the axis since opset 13, over everything from
// the axis on before; the attribute opset says which rule holds.
#include <cmath>

#include "ops/contrib/quantized.h"
#include "ops/infer_util.h"
#include "ops/nn/softmax_rows.h"
#include "ops/op_list.h"

namespace assay::op_ms_QLinearSoftmax {
namespace {

constexpr int64_t kAlongAxis = 13;

/// The slices that are normalized; nothing when the axis is out of range.
Slices slices(const OpContext& c, const Shape& in) {
  if (in.empty()) return {1, 1, 1};
  const bool along = c.attr_int("opset") >= kAlongAxis;
  const auto axis = static_cast<size_t>(normalize_axis(c.attr_int("axis"), in.rank()));
  const int64_t outer = in.numel(0, axis);
  return along ? Slices{outer, in[axis], in.numel(axis + 1, in.size())}
               : Slices{outer, in.numel(axis, in.size()), 1};
}

void infer(InferContext& c) {
  check_quantized(c, {0, 1, 2});
  check_quantized(c, {0, 3, 4});
  if (c.input_rank(0) > 0) normalize_axis(c.attr_int("axis"), c.input_rank(0));
  infer_same_as_input(c);
}

void compute(EvalContext& c, double u, uint64_t key) {
  constexpr double kRoundings = 32;
  const Requantizer requantize(c, 3, 4, c.input(0).dtype(), u, key);
  const Tensor logarithms = log_softmax(dequantized(c, {0, 1, 2}), slices(c, c.shape(0)));
  c.set_output(
      0, requantize(map_elements<double>(logarithms, [](double x) { return std::exp(x); }), 1, kRoundings));
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  X: T
in  X_scale: float
in  x_zero_point: T ?
in  y_scale: float
in  y_zero_point: T
out Y: T
attr opset: int required
attr axis: int = -1
type T: uint8 int8)",
     infer, eval_quantized<compute>},
};

}  // namespace

constinit const OpDef def = {
    .domain = "com.microsoft",
    .name = "QLinearSoftmax",
    .versions = kVersions,
    .numerics = {.perturb = perturb_quantized<compute>},
    .types = EvalTypes::kAsStored,
    .facts =
        {
            .quantizing_scale = 3,
        },
};

}  // namespace assay::op_ms_QLinearSoftmax
