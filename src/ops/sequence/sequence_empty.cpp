// SequenceEmpty: a sequence without elements. Its element type is part of its type only.
#include "ops/op_list.h"
#include "ops/sequence/elements_of.h"

namespace assay::op_onnx_SequenceEmpty {
namespace {

DType element_dtype(const OpContext& c) {
  const int64_t dtype = c.attr_int("dtype", static_cast<int64_t>(DType::kFloat32));
  c.check(is_known_dtype(dtype), "dtype is {}, which is not an element type", dtype);
  return static_cast<DType>(dtype);
}

void infer(InferContext& c) { c.set_output_type(0, sequence_of(Type::tensor(element_dtype(c)))); }

void eval(EvalContext& c) {
  element_dtype(c);
  c.set_output(0, Tensor::sequence({}));
}

constexpr OpVersion kVersions[] = {
    {11, R"(
out output: S
attr dtype: int
type S: seq(tensor(@all)))",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "SequenceEmpty",
    .versions = kVersions,
    .types = EvalTypes::kAsStored,
};

}  // namespace assay::op_onnx_SequenceEmpty
