// OptionalGetElement: the content of an optional; from opset 18 on a tensor or sequence is returned as it is.
#include "ops/op_context.h"
#include "ops/op_list.h"

namespace assay::op_onnx_OptionalGetElement {
namespace {

void infer(InferContext& c) {
  const Type& type = c.input_type(0);
  c.set_output_type(0, type.kind == Type::Kind::kOptional ? element_of(type) : type);
}

void eval(EvalContext& c) {
  const Tensor& in = c.input(0);
  if (in.dtype() != DType::kOptional) return c.set_output(0, in);
  c.check(in.numel() == 1, "the optional is empty, so there is no element to get");
  c.set_output(0, in.elements()[0]);
}

constexpr OpVersion kVersions[] = {
    {15, R"(
in  input: O
out output: V
type O: optional(tensor(@all)) optional(seq(tensor(@all)))
type V: @all seq(tensor(@all)))",
     infer, eval},
    {18, R"(
in  input: O
out output: V
type O: @all seq(tensor(@all)) optional(tensor(@all)) optional(seq(tensor(@all)))
type V: @all seq(tensor(@all)))",
     infer, eval},
    {28, R"(
in  input: O
out output: V
type O: @all_ir13 seq(tensor(@all_ir13)) optional(tensor(@all_ir13)) optional(seq(tensor(@all_ir13))) optional(tensor(float6e2m3)) optional(tensor(float6e3m2)) optional(seq(tensor(float6e2m3))) optional(seq(tensor(float6e3m2))) float6e2m3 float6e3m2 seq(tensor(float6e2m3)) seq(tensor(float6e3m2))
type V: @all_ir13 seq(tensor(@all_ir13)) float6e2m3 float6e3m2 seq(tensor(float6e2m3)) seq(tensor(float6e3m2)))",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "OptionalGetElement",
    .versions = kVersions,
    .types = EvalTypes::kAsStored,
};

}  // namespace assay::op_onnx_OptionalGetElement
