// SequenceErase: a sequence without the tensor at `position`; without the last one by default.
#include "ops/op_list.h"
#include "ops/sequence/elements_of.h"

namespace assay::op_onnx_SequenceErase {
namespace {

void infer(InferContext& c) { c.set_output_type(0, sequence_of(sequence_element_type(c, 0))); }

void eval(EvalContext& c) {
  const std::span<const Tensor> in = sequence_elements(c, 0);
  const auto n = static_cast<int64_t>(in.size());
  c.check(n > 0, "an empty sequence has nothing to erase");
  const int64_t position = sequence_position(c, 1, n, n - 1, n - 1);
  c.set_output(0, c.input(0).without_element(static_cast<size_t>(position)));
}

constexpr OpVersion kVersions[] = {
    {11, R"(
in  input_sequence: S
in  position: I ?
out output_sequence: S
type S: seq(tensor(@all))
type I: int32 int64)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "SequenceErase",
    .versions = kVersions,
    .types = EvalTypes::kAsStored,
    .facts =
        {
            .uses = {{{.kind = InputUse::Kind::kIndex, .input = 1}}},
        },
};

}  // namespace assay::op_onnx_SequenceErase
