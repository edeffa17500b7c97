// SequenceLength: how many tensors a sequence holds.
#include "ops/op_list.h"
#include "ops/sequence/elements_of.h"

namespace assay::op_onnx_SequenceLength {
namespace {

void infer(InferContext& c) {
  sequence_element_type(c, 0);
  c.set_output(0, DType::kInt64, Dims());
}

void eval(EvalContext& c) {
  c.set_output(0, Tensor::scalar(static_cast<int64_t>(sequence_elements(c, 0).size())));
}

constexpr OpVersion kVersions[] = {
    {11, R"(
in  input_sequence: S
out length: I
type S: seq(tensor(@all))
type I: int64)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "SequenceLength",
    .versions = kVersions,
    .types = EvalTypes::kAsStored,
};

}  // namespace assay::op_onnx_SequenceLength
