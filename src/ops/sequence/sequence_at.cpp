// SequenceAt: the tensor at `position` of a sequence.
#include "ops/op_list.h"
#include "ops/sequence/elements_of.h"

namespace assay::op_onnx_SequenceAt {
namespace {

void infer(InferContext& c) { c.set_output_type(0, sequence_element_type(c, 0)); }

void eval(EvalContext& c) {
  const std::span<const Tensor> in = sequence_elements(c, 0);
  const auto n = static_cast<int64_t>(in.size());
  c.check(n > 0, "an empty sequence has no element to give");
  c.set_output(0, in[static_cast<size_t>(sequence_position(c, 1, n, n - 1, 0))]);
}

constexpr OpVersion kVersions[] = {
    {11, R"(
in  input_sequence: S
in  position: I
out tensor: T
type S: seq(tensor(@all))
type T: @all
type I: int32 int64)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "SequenceAt",
    .versions = kVersions,
    .types = EvalTypes::kAsStored,
    .facts =
        {
            .uses = {{{.kind = InputUse::Kind::kIndex, .input = 1}}},
        },
};

}  // namespace assay::op_onnx_SequenceAt
