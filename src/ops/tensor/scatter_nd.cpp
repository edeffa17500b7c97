// ScatterND: a copy of data in which the slices that tuples of indices name are replaced by the updates, or
// combined with them by a reduction.
#include "ops/infer_util.h"
#include "ops/op_list.h"
#include "ops/tensor/element_index.h"

namespace assay::op_onnx_ScatterND {
namespace {

void check_updates(InferContext& c, const Dims& data, const Dims& indices) {
  const int64_t width = indices.back().value();
  c.check(width <= static_cast<int64_t>(data.size()), "tuples of {} indices are too long for data of rank {}",
          width, data.size());
  const Dims* updates = c.input_dims(2);
  if (updates == nullptr) return;
  Dims wanted(indices.begin(), indices.end() - 1);
  wanted.insert(wanted.end(), data.begin() + width, data.end());
  bool fits = wanted.size() == updates->size();
  for (size_t d = 0; fits && d < wanted.size(); ++d)
    fits = !wanted[d].is_known() || !(*updates)[d].is_known() || wanted[d].same_as((*updates)[d]);
  c.check(fits, "updates has shape {}, the indices need {}", dims_str(*updates), dims_str(wanted));
}

void infer(InferContext& c) {
  const Dims *data = c.input_dims(0), *indices = c.input_dims(1);
  scatter_reduction(c);
  if (data != nullptr && indices != nullptr && !indices->empty() && indices->back().is_known())
    check_updates(c, *data, *indices);
  infer_same_as_input(c);
}

void eval(EvalContext& c) {
  const TuplePositions at = tuple_positions(c.shape(0), c.input(1), 0);
  Shape wanted(c.shape(1).begin(), c.shape(1).end() - 1);
  for (size_t d = at.slice_rank_from; d < c.shape(0).size(); ++d) wanted.push_back(c.shape(0)[d]);
  c.check(c.shape(2) == wanted, "updates has shape {}, the indices need {}", c.shape(2).str(), wanted.str());
  Tensor y = c.input(0);
  scatter_slices(y, at.positions, at.slice, c.input(2), scatter_reduction(c));
  c.set_output(0, std::move(y));
}

int64_t terms(EvalContext& c) {
  const ScatterReduction r = scatter_reduction(c);
  if (r != ScatterReduction::kAdd && r != ScatterReduction::kMul) return 0;
  return most_updates(tuple_positions(c.shape(0), c.input(1), 0).positions);
}

constexpr OpVersion kVersions[] = {
    {11, R"(
in  data: T
in  indices: int64
in  updates: T
out output: T
type T: @all)",
     infer, eval},
    {13, R"(
in  data: T
in  indices: int64
in  updates: T
out output: T
type T: @all_ir4)",
     infer, eval},
    {16, R"(
in  data: T
in  indices: int64
in  updates: T
out output: T
attr reduction: string = "none"
type T: @all_ir4)",
     infer, eval},
    {18, "same as ScatterND-16", infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "ScatterND",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kAccumulating, .ulps = 0, .terms = terms},
    .facts =
        {
            .moves = Moves::kInputs,
            .uses = {{{.kind = InputUse::Kind::kIndex, .input = 1}}},
        },
};

}  // namespace assay::op_onnx_ScatterND
