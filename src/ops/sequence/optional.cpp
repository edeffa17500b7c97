// Optional: an optional that holds the input, or an empty one of the attribute's type.
#include "ops/op_context.h"
#include "ops/op_list.h"
#include "ops/value_type.h"

namespace assay::op_onnx_Optional {
namespace {

bool has_element(const OpContext& c) {
  c.check(c.has_input(0) || c.has_attr("type"), "neither the input nor the attribute type is given");
  return c.has_input(0);
}

void infer(InferContext& c) {
  c.set_output_type(0, optional_of(has_element(c) ? c.input_type(0) : c.attr_type("type")));
}

void eval(EvalContext& c) { c.set_output(0, Tensor::optional(has_element(c) ? c.input(0) : Tensor())); }

constexpr OpVersion kVersions[] = {
    {15, R"(
in  input: V ?
out output: O
attr type: type
type V: @all seq(tensor(@all))
type O: optional(tensor(@all)) optional(seq(tensor(@all))))",
     infer, eval},
    {28, R"(
in  input: V ?
out output: O
attr type: type
type V: @all_ir13 seq(tensor(@all_ir13)) float6e2m3 float6e3m2 seq(tensor(float6e2m3)) seq(tensor(float6e3m2))
type O: optional(tensor(@all_ir13)) optional(seq(tensor(@all_ir13))) optional(tensor(float6e2m3)) optional(tensor(float6e3m2)) optional(seq(tensor(float6e2m3))) optional(seq(tensor(float6e3m2))))",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Optional",
    .versions = kVersions,
    .types = EvalTypes::kAsStored,
};

}  // namespace assay::op_onnx_Optional
