// SequenceInsert: a sequence with a tensor put in before `position`; at the end without it.
#include "base/article.h"
#include "ops/op_list.h"
#include "ops/sequence/elements_of.h"

namespace assay::op_onnx_SequenceInsert {
namespace {

void infer(InferContext& c) {
  const Type element = sequence_element_type(c, 0);
  const Type& inserted = c.input_type(1);
  if (element.is_tensor() && inserted.is_tensor() && element.dtype != DType::kUndefined &&
      inserted.dtype != DType::kUndefined)
    c.check(element.dtype == inserted.dtype, "{} tensor cannot be put into a sequence of {} tensors",
            with_article(dtype_name(inserted.dtype)), dtype_name(element.dtype));
  Type common = common_type(element, inserted);
  // One of them may name the element type that both must have; extents are only those that both have.
  if (common.kind == Type::Kind::kUnknown || common.dtype == DType::kUndefined) {
    const DType dtype = element.is_tensor() && element.dtype != DType::kUndefined ? element.dtype
                        : inserted.is_tensor()                                    ? inserted.dtype
                                                                                  : DType::kUndefined;
    if (dtype != DType::kUndefined) common = Type::tensor(dtype);
  }
  c.set_output_type(0, sequence_of(std::move(common)));
}

void eval(EvalContext& c) {
  const std::span<const Tensor> in = sequence_elements(c, 0);
  const auto n = static_cast<int64_t>(in.size());
  const int64_t position = sequence_position(c, 2, n, n, n);
  check_sequence(n + 1, {&c.input(1), 1});
  c.set_output(0, c.input(0).with_element(static_cast<size_t>(position), c.input(1)));
}

constexpr OpVersion kVersions[] = {
    {11, R"(
in  input_sequence: S
in  tensor: T
in  position: I ?
out output_sequence: S
type T: @all
type S: seq(tensor(@all))
type I: int32 int64)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "SequenceInsert",
    .versions = kVersions,
    .types = EvalTypes::kAsStored,
    .facts =
        {
            .uses = {{{.kind = InputUse::Kind::kIndex, .input = 2}}},
        },
};

}  // namespace assay::op_onnx_SequenceInsert
