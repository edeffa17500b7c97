// BitCast: the same bits as another type of the same width.
#include "ops/op_context.h"
#include "ops/op_list.h"
#include "ops/tensor/cast_rules.h"

namespace assay::op_onnx_BitCast {
namespace {

DType target(const OpContext& c) {
  const int64_t to = c.attr_int("to");
  require(is_known_dtype(to), ErrorCode::kUnsupported, "the attribute 'to' names the unknown element type {}",
          to);
  c.check(static_cast<DType>(to) != DType::kString, "strings have no bit pattern");
  return static_cast<DType>(to);
}

void check_width(const OpContext& c, DType from, DType to) {
  c.check(bit_width(from) == bit_width(to), "{} and {} differ in width", dtype_name(from), dtype_name(to));
}

void infer(InferContext& c) {
  const DType to = target(c);
  if (c.input_dtype(0) != DType::kUndefined) check_width(c, c.input_dtype(0), to);
  if (const Dims* in = c.input_dims(0))
    c.set_output(0, to, *in);
  else
    c.set_output(0, to);
}

void eval(EvalContext& c) {
  const DType to = target(c);
  const Tensor x = stored_input(c);
  check_width(c, x.dtype(), to);
  c.set_output(0, x.bitcast(to));
}

constexpr OpVersion kVersions[] = {
    {26, R"(
in  input: T1
out output: T2
attr to: int required
type T1: @numeric_ir4 bool complex64 complex128 float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz uint4 int4 float4e2m1 float8e8m0 uint2 int2
type T2: @numeric_ir4 bool complex64 complex128 float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz uint4 int4 float4e2m1 float8e8m0 uint2 int2)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "BitCast",
    .versions = kVersions,
    .types = EvalTypes::kAsStored,
};

}  // namespace assay::op_onnx_BitCast
