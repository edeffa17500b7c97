// QuantizeLinear: y = saturate(round(x / y_scale) + y_zero_point), with one scale for the tensor, an axis or
// a block.
#include <cmath>

#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/nn/window.h"
#include "ops/op_list.h"
#include "ops/quant/quantize.h"
#include "tensor/convert.h"
#include "tensor/half.h"

namespace assay::op_onnx_QuantizeLinear {
namespace {

/// The type of y: that of the zero point, else the attribute, else uint8.
DType output_type(const OpContext& c, DType zero_point) {
  const int64_t asked = knows_attr(c, "output_dtype") ? c.attr_int("output_dtype") : 0;
  c.check(asked == 0 || is_known_dtype(asked), "attribute 'output_dtype' is {}, which is not an element type",
          asked);
  if (!c.has_input(2)) return asked != 0 ? static_cast<DType>(asked) : DType::kUInt8;
  c.check(asked == 0 || zero_point == DType::kUndefined || static_cast<DType>(asked) == zero_point,
          "attribute 'output_dtype' is {}, but the zero point is {}", asked, dtype_name(zero_point));
  return zero_point;
}

void infer(InferContext& c) {
  check_quant_shapes(c);
  const DType to = output_type(c, c.has_input(2) ? c.input_dtype(2) : DType::kUndefined);
  if (const Dims* in = c.input_dims(0)) return c.set_output(0, to, *in);
  c.set_output(0, to);
}

/// The type in which x is divided: the attribute precision, else that of the scale as the model declares it,
/// also where the reference works with ideal values; the specification makes this rounding part of the
/// operator. float32 where the scale has no arithmetic of its own.
DType division_type(const EvalContext& c) {
  const int64_t asked = knows_attr(c, "precision") ? c.attr_int("precision") : 0;
  const Type& declared = c.node().input(1)->type;
  const DType scale = declared.is_tensor() ? declared.dtype : c.input(1).dtype();
  const DType type = asked != 0 ? static_cast<DType>(asked) : scale;
  return type == DType::kFloat16 || type == DType::kBFloat16 || type == DType::kFloat64 ? type
                                                                                        : DType::kFloat32;
}

/// x / s rounded to the type. Quotients of 16-bit floats rounded to float first round to the same.
double divide(double x, double s, DType type) {
  switch (type) {
    case DType::kFloat16: {
      const float q = half_to_float(double_to_half(x)) / half_to_float(double_to_half(s));
      return static_cast<double>(half_to_float(float_to_half(q)));
    }
    case DType::kBFloat16: {
      const float q = bfloat16_to_float(double_to_bfloat16(x)) / bfloat16_to_float(double_to_bfloat16(s));
      return static_cast<double>(bfloat16_to_float(float_to_bfloat16(q)));
    }
    case DType::kFloat32:
      return static_cast<double>(static_cast<float>(x) / static_cast<float>(s));
    default:
      return x / s;
  }
}

void eval(EvalContext& c) {
  // The declared type is right even where a zero point of a float type is stored as float64.
  const DType declared = c.declared_dtype(0);
  const DType to = declared != DType::kUndefined
                       ? declared
                       : output_type(c, c.has_input(2) ? c.input(2).dtype() : DType::kUndefined);
  c.check(is_quantized_integer(to) || bit_width(to) <= 8, "{} is not a type to quantise to", dtype_name(to));
  const QuantGrid grid(c, c.shape(0), c.shape(1));
  const DType type = division_type(c);
  const Tensor x = to_float64(c.input(0)), scale = to_float64(c.input(1));
  const Tensor zero = c.has_input(2) ? to_float64(c.input(2)) : Tensor::zeros(DType::kFloat64, c.shape(1));
  c.check(zero.shape() == scale.shape() || (zero.numel() == 1 && scale.numel() == 1),
          "the zero point has shape {}, the scale {}", zero.shape().str(), scale.shape().str());
  Tensor levels = Tensor::allocate(DType::kFloat64, c.shape(0));
  const double *px = x.data<double>(), *ps = scale.data<double>(), *pz = zero.data<double>();
  double* out = levels.mutable_data<double>();
  grid.for_each_run([&](int64_t first, int64_t count, int64_t index, int64_t step) {
    for (int64_t i = 0; i < count; ++i, index += step)
      out[first + i] = level_of(divide(px[first + i], ps[index], type), pz[index], to);
  });
  c.set_output(0, store_quantized(levels, to, !knows_attr(c, "saturate") || c.attr_int("saturate") != 0));
}

constexpr OpVersion kVersions[] = {
    {10, R"(
in  x: T1
in  y_scale: float
in  y_zero_point: T2 ?
out y: T2
type T1: float int32
type T2: int8 uint8)",
     infer, eval},
    {13, R"(
in  x: T1
in  y_scale: float
in  y_zero_point: T2 ?
out y: T2
attr axis: int = 1
type T1: float int32
type T2: int8 uint8)",
     infer, eval},
    {19, R"(
in  x: T1
in  y_scale: T1
in  y_zero_point: T2 ?
out y: T2
attr saturate: int = 1
attr axis: int = 1
type T1: float float16 bfloat16 int32
type T2: int8 uint8 float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz)",
     infer, eval},
    {21, R"(
in  x: T1
in  y_scale: T1
in  y_zero_point: T2 ?
out y: T2
attr output_dtype: int = 0
attr block_size: int = 0
attr saturate: int = 1
attr axis: int = 1
type T1: float float16 bfloat16 int32
type T2: int8 uint8 int16 uint16 float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz uint4 int4)",
     infer, eval},
    {23, R"(
in  x: T1
in  y_scale: T2
in  y_zero_point: T3 ?
out y: T3
attr precision: int = 0
attr output_dtype: int = 0
attr block_size: int = 0
attr saturate: int = 1
attr axis: int = 1
type T1: float float16 bfloat16 int32
type T2: float float16 bfloat16 int32
type T3: int8 uint8 int16 uint16 float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz uint4 int4 float4e2m1)",
     infer, eval},
    {24, R"(
in  x: T1
in  y_scale: T2
in  y_zero_point: T3 ?
out y: T3
attr precision: int = 0
attr output_dtype: int = 0
attr block_size: int = 0
attr saturate: int = 1
attr axis: int = 1
type T1: float float16 bfloat16 int32
type T2: float float16 bfloat16 int32 float8e8m0
type T3: int8 uint8 int16 uint16 float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz uint4 int4 float4e2m1)",
     infer, eval},
    {25, R"(
in  x: T1
in  y_scale: T2
in  y_zero_point: T3 ?
out y: T3
attr precision: int = 0
attr output_dtype: int = 0
attr block_size: int = 0
attr saturate: int = 1
attr axis: int = 1
type T1: float float16 bfloat16 int32
type T2: float float16 bfloat16 int32 float8e8m0
type T3: int8 uint8 int16 uint16 float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz uint4 int4 float4e2m1 uint2 int2)",
     infer, eval},
    {28, R"(
in  x: T1
in  y_scale: T2
in  y_zero_point: T3 ?
out y: T3
attr precision: int = 0
attr output_dtype: int = 0
attr block_size: int = 0
attr saturate: int = 1
attr axis: int = 1
type T1: float float16 bfloat16 int32
type T2: float float16 bfloat16 int32 float8e8m0
type T3: int8 uint8 int16 uint16 float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz uint4 int4 float4e2m1 uint2 int2 float6e2m3 float6e3m2)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "QuantizeLinear",
    .versions = kVersions,
    .types = EvalTypes::kAsStored,
    .facts =
        {
            .recodes = true,
            .quantizing_scale = 1,
            .compares =
                {{{.reach = ComparisonFact::Reach::kElement, .first = 0, .count = 1},
                  {.reach = ComparisonFact::Reach::kAll, .first = 1, .count = 1, .infinities = true}}},
        },
};

}  // namespace assay::op_onnx_QuantizeLinear
