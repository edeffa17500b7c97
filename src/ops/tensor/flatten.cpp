// Flatten: a matrix; the dimensions before the axis become the rows, the others the columns.
#include "ops/infer_util.h"
#include "ops/op_list.h"
#include "ops/tensor/axes.h"

namespace assay::op_onnx_Flatten {
namespace {

/// Unlike other axes this one may equal the rank.
size_t split_axis(const OpContext& c, size_t rank) {
  const int64_t axis = c.attr_int("axis"), r = static_cast<int64_t>(rank);
  c.check(axis >= -r && axis <= r, "axis {} is outside [-{}, {}]", axis, r, r);
  return static_cast<size_t>(axis < 0 ? axis + r : axis);
}

void infer(InferContext& c) {
  const Dims* in = c.input_dims(0);
  if (in == nullptr) return c.set_output(0, c.input_dtype(0), Dims(2));
  const size_t axis = split_axis(c, in->size());
  c.set_output(0, c.input_dtype(0), {dim_product(*in, 0, axis), dim_product(*in, axis, in->size())});
}

void eval(EvalContext& c) {
  const Shape& in = c.shape(0);
  const size_t axis = split_axis(c, in.size());
  c.set_output(0, c.input(0).reshaped({in.numel(0, axis), in.numel(axis, in.size())}));
}

constexpr OpVersion kVersions[] = {
    {1, "same as Hardmax-1", infer, eval},
    {9, R"(
in  input: T
out output: T
attr axis: int = 1
type T: @all)",
     infer, eval},
    {11, "same as Flatten-9", infer, eval},
    {13, R"(
in  input: T
out output: T
attr axis: int = 1
type T: @all_ir4)",
     infer, eval},
    {21, R"(
in  input: T
out output: T
attr axis: int = 1
type T: @all_ir10)",
     infer, eval},
    {23, R"(
in  input: T
out output: T
attr axis: int = 1
type T: @all_ir11)",
     infer, eval},
    {24, R"(
in  input: T
out output: T
attr axis: int = 1
type T: @all_ir12)",
     infer, eval},
    {25, R"(
in  input: T
out output: T
attr axis: int = 1
type T: @all_ir13)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Flatten",
    .versions = kVersions,
    .types = EvalTypes::kAsStored,
    .facts =
        {
            .moves = Moves::kView,
        },
};

}  // namespace assay::op_onnx_Flatten
