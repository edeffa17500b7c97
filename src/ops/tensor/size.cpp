// Size: the number of elements of the input as a scalar.
#include "ops/infer_util.h"
#include "ops/op_list.h"

namespace assay::op_onnx_Size {
namespace {

void infer(InferContext& c) {
  c.set_output(0, DType::kInt64, Dims());
  if (const Dims* in = c.input_dims(0)) c.set_output_extents(0, {dim_product(*in, 0, in->size())});
}

void eval(EvalContext& c) { c.set_output(0, Tensor::scalar<int64_t>(c.input(0).numel())); }

constexpr OpVersion kVersions[] = {
    {1, R"(
in  data: T
out size: T1
type T: @all
type T1: int64)",
     infer, eval},
    {13, R"(
in  data: T
out size: T1
type T: @all_ir4
type T1: int64)",
     infer, eval},
    {19, R"(
in  data: T
out size: T1
type T: @all_ir9
type T1: int64)",
     infer, eval},
    {21, R"(
in  data: T
out size: T1
type T: @all_ir10
type T1: int64)",
     infer, eval},
    {23, R"(
in  data: T
out size: T1
type T: @all_ir11
type T1: int64)",
     infer, eval},
    {24, R"(
in  data: T
out size: T1
type T: @all_ir12
type T1: int64)",
     infer, eval},
    {25, R"(
in  data: T
out size: T1
type T: @all_ir13
type T1: int64)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Size",
    .versions = kVersions,
    .types = EvalTypes::kAsStored,
    .facts =
        {
            .moves = Moves::kExtents,
            .is_total = true,
        },
};

}  // namespace assay::op_onnx_Size
