// QLinearWhere: Z = quantize(dequantize(X) where the condition holds, else dequantize(Y)); all three are
// broadcast.
#include <algorithm>

#include "ops/contrib/quantized.h"
#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/op_list.h"

namespace assay::op_ms_QLinearWhere {
namespace {

constexpr QuantizedInput kX = {1, 2, 3}, kY = {4, 5, 6}, kZ = {1, 7, 8};

void infer(InferContext& c) {
  for (const QuantizedInput& in : {kX, kY, kZ}) check_quantized(c, in);
  const DType dtype = c.input_dtype(kX.levels);
  Dims dims;
  for (const size_t i : {size_t{0}, kX.levels, kY.levels}) {
    if (c.input_dims(i) == nullptr) return c.set_output(0, dtype);
    dims = broadcast_dims(dims, *c.input_dims(i));
  }
  c.set_output(0, dtype, std::move(dims));
}

void compute(EvalContext& c, double u, uint64_t key) {
  constexpr double kRoundings = 4;
  const Tensor x = dequantized(c, kX), y = dequantized(c, kY);
  const Shape& condition = c.shape(0);
  Tensor z = Tensor::allocate(DType::kFloat64, broadcast(condition, broadcast(x.shape(), y.shape())));
  const bool* pc = c.input(0).data<bool>();
  const double *px = x.data<double>(), *py = y.data<double>();
  double* to = z.mutable_data<double>();
  for_broadcast_rows<3>(z.shape(), {condition, x.shape(), y.shape()},
                        [=](const auto& steps, int64_t at, const auto& offsets, int64_t n) {
                          for (int64_t i = 0; i < n; ++i)
                            to[at + i] = pc[offsets[0] + i * steps[0]] ? px[offsets[1] + i * steps[1]]
                                                                       : py[offsets[2] + i * steps[2]];
                        });
  const Requantizer requantize(c, kZ.scale, kZ.zero, c.input(kX.levels).dtype(), u, key);
  c.set_output(0, requantize(z, std::max(largest_operand(c, kX), largest_operand(c, kY)), kRoundings));
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  condition: B
in  X: T
in  x_scale: TF
in  x_zero_point: T
in  Y: T
in  y_scale: TF
in  y_zero_point: T
in  z_scale: TF
in  z_zero_point: T
out Z: T
type B: bool
type TF: float
type T: uint8 int8)",
     infer, eval_quantized<compute>},
};

}  // namespace

constinit const OpDef def = {
    .domain = "com.microsoft",
    .name = "QLinearWhere",
    .versions = kVersions,
    .numerics = {.perturb = perturb_quantized<compute>},
    .types = EvalTypes::kAsStored,
    .facts =
        {
            .quantizing_scale = 7,
        },
};

}  // namespace assay::op_ms_QLinearWhere
