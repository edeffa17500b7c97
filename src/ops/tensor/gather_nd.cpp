// GatherND: the slices of data that tuples of indices name; the tuples are along the last dimension of the
// indices.
#include <algorithm>

#include "ops/eval_util.h"
#include "ops/op_list.h"
#include "ops/tensor/element_index.h"
#include "ops/tensor/elements.h"

namespace assay::op_onnx_GatherND {
namespace {

size_t batch_dims(const OpContext& c) {
  const int64_t dims = c.since() >= 12 ? c.attr_int("batch_dims") : 0;
  c.check(dims >= 0, "batch_dims is {}", dims);
  return static_cast<size_t>(dims);
}

void infer(InferContext& c) {
  const Dims *data = c.input_dims(0), *indices = c.input_dims(1);
  if (data == nullptr || indices == nullptr || indices->empty() || !indices->back().is_known())
    return c.set_output(0, c.input_dtype(0));
  const size_t first = batch_dims(c), length = static_cast<size_t>(indices->back().value());
  c.check(first + length <= data->size(),
          "tuples of {} indices after {} batch dimensions are too long for data of rank {}", length, first,
          data->size());
  Dims out(indices->begin(), indices->end() - 1);
  out.insert(out.end(), data->begin() + static_cast<std::ptrdiff_t>(first + length), data->end());
  c.set_output(0, c.input_dtype(0), std::move(out));
}

void eval(EvalContext& c) {
  const TuplePositions at = tuple_positions(c.shape(0), c.input(1), batch_dims(c));
  Shape out(c.shape(1).begin(), c.shape(1).end() - 1);
  for (size_t d = at.slice_rank_from; d < c.shape(0).size(); ++d) out.push_back(c.shape(0)[d]);
  const Tensor data = unpacked(c.input(0));
  Tensor y = checked_allocation(data.dtype(), out);
  visit_elements(data.dtype(), [&]<typename E>() {
    const E* from = elements<E>(data);
    E* to = mutable_elements<E>(y);
    const int64_t grain = std::max<int64_t>(1, kElementGrain / std::max<int64_t>(1, at.slice));
    parallel_for(static_cast<int64_t>(at.positions.size()), grain, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i)
        std::copy_n(from + at.positions[static_cast<size_t>(i)], at.slice, to + i * at.slice);
    });
  });
  c.set_output(0, repacked(std::move(y), c.input(0).dtype()));
}

constexpr OpVersion kVersions[] = {
    {11, R"(
in  data: T
in  indices: int64
out output: T
type T: @all)",
     infer, eval},
    {12, R"(
in  data: T
in  indices: int64
out output: T
attr batch_dims: int = 0
type T: @all)",
     infer, eval},
    {13, R"(
in  data: T
in  indices: int64
out output: T
attr batch_dims: int = 0
type T: @all_ir4)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "GatherND",
    .versions = kVersions,
    .types = EvalTypes::kAsStored,
    .facts =
        {
            .moves = Moves::kFirst,
            .uses = {{{.kind = InputUse::Kind::kIndex, .input = 1}}},
        },
};

}  // namespace assay::op_onnx_GatherND
