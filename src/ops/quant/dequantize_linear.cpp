// DequantizeLinear: y = (x - x_zero_point) * x_scale, with one scale for the tensor, an axis or a block.
#include <cmath>

#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/nn/window.h"
#include "ops/op_list.h"
#include "ops/quant/quantize.h"
#include "tensor/convert.h"

namespace assay::op_onnx_DequantizeLinear {
namespace {

/// The type of y: the attribute, else that of the scale.
DType output_type(const OpContext& c, DType scale) {
  const int64_t asked = knows_attr(c, "output_dtype") ? c.attr_int("output_dtype") : 0;
  c.check(asked == 0 || is_known_dtype(asked), "attribute 'output_dtype' is {}, which is not an element type",
          asked);
  return asked != 0 ? static_cast<DType>(asked) : scale;
}

void infer(InferContext& c) {
  check_quant_shapes(c);
  const DType to = output_type(c, c.input_dtype(1));
  if (const Dims* in = c.input_dims(0)) return c.set_output(0, to, *in);
  c.set_output(0, to);
}

/// f(x, zero point, scale) for every element.
template <typename F>
Tensor for_elements(EvalContext& c, F f) {
  const QuantGrid grid(c, c.shape(0), c.shape(1));
  const Tensor x = to_float64(c.input(0)), scale = to_float64(c.input(1));
  const Tensor zero = c.has_input(2) ? to_float64(c.input(2)) : Tensor::zeros(DType::kFloat64, c.shape(1));
  c.check(zero.shape() == scale.shape() || (zero.numel() == 1 && scale.numel() == 1),
          "the zero point has shape {}, the scale {}", zero.shape().str(), scale.shape().str());
  Tensor y = Tensor::allocate(DType::kFloat64, c.shape(0));
  const double *px = x.data<double>(), *ps = scale.data<double>(), *pz = zero.data<double>();
  double* out = y.mutable_data<double>();
  grid.for_each_run([&](int64_t first, int64_t count, int64_t index, int64_t step) {
    for (int64_t i = 0; i < count; ++i, index += step)
      out[first + i] = f(px[first + i], pz[index], ps[index]);
  });
  return y;
}

void eval(EvalContext& c) {
  const Tensor y = for_elements(c, [](double x, double zero, double scale) { return (x - zero) * scale; });
  c.set_output(0, c.ideal ? y : convert(y, output_type(c, c.input(1).dtype())));
}

/// int32 may round on its way to float.
Tensor bound(EvalContext&, double u, size_t, const Tensor& y) {
  return map_elements<double>(y, [u](double v) { return 2 * u * std::abs(v); });
}

/// In a network: backends that move the scale after the following operator multiply it by x and by the zero
/// point, then subtract.
Tensor expected(EvalContext& c, double u, size_t, const Tensor&) {
  return for_elements(c, [u](double x, double zero, double scale) {
    return u * (std::abs(x - zero) + std::abs(x) + std::abs(zero)) * std::abs(scale);
  });
}

constexpr OpVersion kVersions[] = {
    {10, R"(
in  x: T
in  x_scale: float
in  x_zero_point: T ?
out y: float
type T: int8 uint8 int32)",
     infer, eval},
    {13, R"(
in  x: T
in  x_scale: float
in  x_zero_point: T ?
out y: float
attr axis: int = 1
type T: int8 uint8 int32)",
     infer, eval},
    {19, R"(
in  x: T1
in  x_scale: T2
in  x_zero_point: T1 ?
out y: T2
attr axis: int = 1
type T1: int8 uint8 int32 float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz
type T2: float float16 bfloat16)",
     infer, eval},
    {21, R"(
in  x: T1
in  x_scale: T2
in  x_zero_point: T1 ?
out y: T2
attr block_size: int = 0
attr axis: int = 1
type T1: int8 uint8 int16 uint16 int32 float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz uint4 int4
type T2: float float16 bfloat16)",
     infer, eval},
    {23, R"(
in  x: T1
in  x_scale: T2
in  x_zero_point: T1 ?
out y: T3
attr output_dtype: int = 0
attr block_size: int = 0
attr axis: int = 1
type T1: int8 uint8 int16 uint16 int32 float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz uint4 int4 float4e2m1
type T2: float float16 bfloat16
type T3: float float16 bfloat16)",
     infer, eval},
    {24, R"(
in  x: T1
in  x_scale: T2
in  x_zero_point: T1 ?
out y: T3
attr output_dtype: int = 0
attr block_size: int = 0
attr axis: int = 1
type T1: int8 uint8 int16 uint16 int32 float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz uint4 int4 float4e2m1
type T2: float float16 bfloat16 float8e8m0
type T3: float float16 bfloat16)",
     infer, eval},
    {25, R"(
in  x: T1
in  x_scale: T2
in  x_zero_point: T1 ?
out y: T3
attr output_dtype: int = 0
attr block_size: int = 0
attr axis: int = 1
type T1: int8 uint8 int16 uint16 int32 float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz uint4 int4 float4e2m1 uint2 int2
type T2: float float16 bfloat16 float8e8m0
type T3: float float16 bfloat16)",
     infer, eval},
    {28, R"(
in  x: T1
in  x_scale: T2
in  x_zero_point: T1 ?
out y: T3
attr output_dtype: int = 0
attr block_size: int = 0
attr axis: int = 1
type T1: int8 uint8 int16 uint16 int32 float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz uint4 int4 float4e2m1 uint2 int2 float6e2m3 float6e3m2
type T2: float float16 bfloat16 float8e8m0
type T3: float float16 bfloat16)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "DequantizeLinear",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kCustom, .bound = bound, .expected = expected},
    .types = EvalTypes::kAsStored,
    .facts =
        {
            .recodes = true,
        },
};

}  // namespace assay::op_onnx_DequantizeLinear
