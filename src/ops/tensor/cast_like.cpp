// CastLike: every element converted to the type of another tensor.
#include "ops/op_list.h"
#include "ops/tensor/cast_rules.h"

namespace assay::op_onnx_CastLike {
namespace {

void infer(InferContext& c) { infer_cast(c, c.input_dtype(1)); }

void eval(EvalContext& c) {
  // The float64 reference passes floats as float64, so the type that the model declares decides.
  const DType declared = c.declared_dtype(0);
  eval_cast(c, declared != DType::kUndefined ? declared : c.input(1).dtype());
}

constexpr OpVersion kVersions[] = {
    {15, R"(
in  input: T1
in  target_type: T2
out output: T2
type T1: @numeric_ir4 bool string
type T2: @numeric_ir4 bool string)",
     infer, eval},
    {19, R"(
in  input: T1
in  target_type: T2
out output: T2
attr saturate: int = 1
type T1: @numeric_ir4 bool string float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz
type T2: @numeric_ir4 bool string float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz)",
     infer, eval},
    {21, R"(
in  input: T1
in  target_type: T2
out output: T2
attr saturate: int = 1
type T1: @numeric_ir4 string bool float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz uint4 int4
type T2: @numeric_ir4 string bool float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz uint4 int4)",
     infer, eval},
    {23, R"(
in  input: T1
in  target_type: T2
out output: T2
attr saturate: int = 1
type T1: @numeric_ir4 string bool float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz uint4 int4 float4e2m1
type T2: @numeric_ir4 string bool float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz uint4 int4 float4e2m1)",
     infer, eval},
    {24, R"(
in  input: T1
in  target_type: T2
out output: T2
attr round_mode: string = "up"
attr saturate: int = 1
type T1: @numeric_ir4 string bool float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz uint4 int4 float4e2m1 float8e8m0
type T2: @numeric_ir4 string bool float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz uint4 int4 float4e2m1 float8e8m0)",
     infer, eval},
    {25, R"(
in  input: T1
in  target_type: T2
out output: T2
attr round_mode: string = "up"
attr saturate: int = 1
type T1: @numeric_ir4 string bool float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz uint4 int4 float4e2m1 float8e8m0 uint2 int2
type T2: @numeric_ir4 string bool float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz uint4 int4 float4e2m1 float8e8m0 uint2 int2)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "CastLike",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kElementwise},
    .types = EvalTypes::kAsStored,
    .facts =
        {
            .elementwise = 1,
            .recodes = true,
        },
};

}  // namespace assay::op_onnx_CastLike
