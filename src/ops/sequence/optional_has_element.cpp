// OptionalHasElement: false for an empty optional and an input that is left out, true for everything else.
#include "ops/op_context.h"
#include "ops/op_list.h"

namespace assay::op_onnx_OptionalHasElement {
namespace {

void infer(InferContext& c) { c.set_output(0, DType::kBool, Dims()); }

void eval(EvalContext& c) {
  const bool empty = !c.has_input(0) || (c.input(0).dtype() == DType::kOptional && c.input(0).numel() == 0);
  c.set_output(0, Tensor::scalar(!empty));
}

constexpr OpVersion kVersions[] = {
    {15, R"(
in  input: O
out output: B
type O: optional(tensor(@all)) optional(seq(tensor(@all)))
type B: bool)",
     infer, eval},
    {18, R"(
in  input: O ?
out output: B
type O: @all seq(tensor(@all)) optional(tensor(@all)) optional(seq(tensor(@all)))
type B: bool)",
     infer, eval},
    {28, R"(
in  input: O ?
out output: B
type O: @all_ir13 seq(tensor(@all_ir13)) optional(tensor(@all_ir13)) optional(seq(tensor(@all_ir13))) optional(tensor(float6e2m3)) optional(tensor(float6e3m2)) optional(seq(tensor(float6e2m3))) optional(seq(tensor(float6e3m2))) float6e2m3 float6e3m2 seq(tensor(float6e2m3)) seq(tensor(float6e3m2))
type B: bool)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "OptionalHasElement",
    .versions = kVersions,
    .types = EvalTypes::kAsStored,
};

}  // namespace assay::op_onnx_OptionalHasElement
