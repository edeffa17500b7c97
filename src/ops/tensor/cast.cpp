// Cast: every element converted to another type. Opset 1 names the type by a string (FLOAT).
#include <algorithm>

#include "ops/op_list.h"
#include "ops/tensor/cast_rules.h"

namespace assay::op_onnx_Cast {
namespace {

DType named_target(const OpContext& c) {
  std::string name = c.attr_string("to");
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char l) { return l >= 'A' && l <= 'Z' ? static_cast<char>(l - 'A' + 'a') : l; });
  const std::optional<DType> to = dtype_from_name(name);
  require(to.has_value(), ErrorCode::kUnsupported, "the attribute 'to' names the unknown element type '{}'",
          c.attr_string("to"));
  return *to;
}

DType target(const OpContext& c) {
  if (c.since() < 6) return named_target(c);
  const int64_t to = c.attr_int("to");
  require(is_known_dtype(to), ErrorCode::kUnsupported, "the attribute 'to' names the unknown element type {}",
          to);
  return static_cast<DType>(to);
}

void infer(InferContext& c) { infer_cast(c, target(c)); }
void eval(EvalContext& c) { eval_cast(c, target(c)); }

constexpr OpVersion kVersions[] = {
    {1, R"(
in  input: T1
out output: T2
attr to: string required
type T1: @numeric bool
type T2: @numeric bool)",
     infer, eval},
    {6, R"(
in  input: T1
out output: T2
attr to: int required
type T1: @numeric bool
type T2: @numeric bool)",
     infer, eval},
    {9, R"(
in  input: T1
out output: T2
attr to: int required
type T1: @numeric bool string
type T2: @numeric bool string)",
     infer, eval},
    {13, R"(
in  input: T1
out output: T2
attr to: int required
type T1: @numeric_ir4 bool string
type T2: @numeric_ir4 bool string)",
     infer, eval},
    {19, R"(
in  input: T1
out output: T2
attr saturate: int = 1
attr to: int required
type T1: @numeric_ir4 bool string float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz
type T2: @numeric_ir4 bool string float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz)",
     infer, eval},
    {21, R"(
in  input: T1
out output: T2
attr saturate: int = 1
attr to: int required
type T1: @numeric_ir4 bool string float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz uint4 int4
type T2: @numeric_ir4 bool string float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz uint4 int4)",
     infer, eval},
    {23, R"(
in  input: T1
out output: T2
attr saturate: int = 1
attr to: int required
type T1: @numeric_ir4 string bool float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz uint4 int4 float4e2m1
type T2: @numeric_ir4 string bool float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz uint4 int4 float4e2m1)",
     infer, eval},
    {24, R"(
in  input: T1
out output: T2
attr round_mode: string = "up"
attr saturate: int = 1
attr to: int required
type T1: @numeric_ir4 string bool float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz uint4 int4 float4e2m1 float8e8m0
type T2: @numeric_ir4 string bool float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz uint4 int4 float4e2m1 float8e8m0)",
     infer, eval},
    {25, R"(
in  input: T1
out output: T2
attr round_mode: string = "up"
attr saturate: int = 1
attr to: int required
type T1: @numeric_ir4 string bool float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz uint4 int4 float4e2m1 float8e8m0 uint2 int2
type T2: @numeric_ir4 string bool float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz uint4 int4 float4e2m1 float8e8m0 uint2 int2)",
     infer, eval},
    {28, R"(
in  input: T1
out output: T2
attr round_mode: string = "up"
attr saturate: int = 1
attr to: int required
type T1: @numeric_ir4 string bool float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz uint4 int4 float4e2m1 float8e8m0 uint2 int2 float6e2m3 float6e3m2
type T2: @numeric_ir4 string bool float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz uint4 int4 float4e2m1 float8e8m0 uint2 int2 float6e2m3 float6e3m2)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Cast",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kElementwise},
    .types = EvalTypes::kAsStored,
    .facts =
        {
            .elementwise = 1,
            .steps = {.first = 1},
            .recodes = true,
        },
};

}  // namespace assay::op_onnx_Cast
