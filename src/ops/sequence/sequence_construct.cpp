// SequenceConstruct: a sequence of the inputs, which are all of one element type.
#include "ops/op_list.h"
#include "ops/sequence/elements_of.h"

namespace assay::op_onnx_SequenceConstruct {
namespace {

void infer(InferContext& c) {
  Type element = c.input_type(0);
  for (size_t i = 1; i < c.input_count(); ++i) element = common_type(element, c.input_type(i));
  c.set_output_type(0, sequence_of(std::move(element)));
}

void eval(EvalContext& c) { c.set_output(0, make_sequence(c.inputs())); }

constexpr OpVersion kVersions[] = {
    {11, R"(
in  inputs: T ...
out output_sequence: S
type T: @all
type S: seq(tensor(@all)))",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "SequenceConstruct",
    .versions = kVersions,
    .types = EvalTypes::kAsStored,
};

}  // namespace assay::op_onnx_SequenceConstruct
