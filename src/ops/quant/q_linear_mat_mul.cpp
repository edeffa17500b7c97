// QLinearMatMul: the matrix product of quantized tensors, quantized: the integer product times a_scale *
// b_scale / y_scale, rounded to nearest even, plus the zero point, saturated. The factor and its product are
// taken in float64.
#include "ops/eval_util.h"
#include "ops/multiply_accumulates.h"
#include "ops/nn/matrix_product.h"
#include "ops/op_list.h"
#include "ops/quant/integer_operands.h"
#include "ops/quant/quantize.h"
#include "tensor/convert.h"

namespace assay::op_onnx_QLinearMatMul {
namespace {

void infer(InferContext& c) {
  std::optional<Dims> dims = infer_product_dims(c, 0, 3);
  if (dims)
    c.set_output(0, c.input_dtype(7), std::move(*dims));
  else
    c.set_output(0, c.input_dtype(7));
}

void eval(EvalContext& c) {
  const auto times = [](double x, double y) { return x * y; };
  Tensor product = matrix_product(quantized_matrix(c, 0, 2, false), quantized_matrix(c, 3, 5, true));
  const Shape shape = product.shape();
  product = map_broadcast<double>(product, matrix_parameter(c, 0, 1, false), times);
  product = map_broadcast<double>(product, matrix_parameter(c, 3, 4, true), times);
  c.check(product.shape() == shape, "the scales do not fit a result of shape {}", shape.str());
  const double scale = scalar_parameter(c, 6), zero = scalar_parameter(c, 7);
  const DType declared = c.declared_dtype(0),
              to = declared != DType::kUndefined ? declared : c.input(7).dtype();
  c.set_output(
      0, store_quantized(
             map_elements<double>(product, [=](double x) { return level_of(x / scale, zero, to); }), to));
}

constexpr OpVersion kVersions[] = {
    {10, R"(
in  a: T1
in  a_scale: float
in  a_zero_point: T1
in  b: T2
in  b_scale: float
in  b_zero_point: T2
in  y_scale: float
in  y_zero_point: T3
out y: T3
type T1: int8 uint8
type T2: int8 uint8
type T3: int8 uint8)",
     infer, eval},
    {21, R"(
in  a: T1
in  a_scale: TS
in  a_zero_point: T1
in  b: T2
in  b_scale: TS
in  b_zero_point: T2
in  y_scale: TS
in  y_zero_point: T3
out y: T3
type TS: float float16 bfloat16
type T1: int8 uint8 float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz
type T2: int8 uint8 float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz
type T3: int8 uint8 float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "QLinearMatMul",
    .versions = kVersions,
    .types = EvalTypes::kAsStored,
    .facts =
        {
            .quantizing_scale = 6,
            .multiply_accumulates = mat_mul_macs,
        },
};

}  // namespace assay::op_onnx_QLinearMatMul
