// GatherElements: for each index, the element at its own coordinates with the index in place of the one along
// the axis.
#include "ops/eval_util.h"
#include "ops/op_list.h"
#include "ops/tensor/element_index.h"
#include "ops/tensor/elements.h"

namespace assay::op_onnx_GatherElements {
namespace {

void infer(InferContext& c) {
  const Dims *data = c.input_dims(0), *indices = c.input_dims(1);
  if (data != nullptr) normalize_axis(c.attr_int("axis"), static_cast<int>(data->size()));
  if (indices == nullptr) return c.set_output(0, c.input_dtype(0));
  c.check(data == nullptr || data->size() == indices->size(), "data has rank {}, indices has rank {}",
          data ? data->size() : 0, indices->size());
  c.set_output(0, c.input_dtype(0), *indices);
}

void eval(EvalContext& c) {
  const auto axis = static_cast<size_t>(normalize_axis(c.attr_int("axis"), c.input(0).rank()));
  const std::vector<int64_t> positions = element_positions(c.shape(0), c.input(1), axis);
  const Tensor data = unpacked(c.input(0));
  Tensor y = checked_allocation(data.dtype(), c.shape(1));
  visit_elements(data.dtype(), [&]<typename E>() {
    const E* from = elements<E>(data);
    E* to = mutable_elements<E>(y);
    parallel_for(y.numel(), kElementGrain, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) to[i] = from[positions[static_cast<size_t>(i)]];
    });
  });
  c.set_output(0, repacked(std::move(y), c.input(0).dtype()));
}

constexpr OpVersion kVersions[] = {
    {11, "same as Gather-1", infer, eval},
    {13, "same as Gather-13", infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "GatherElements",
    .versions = kVersions,
    .types = EvalTypes::kAsStored,
    .facts =
        {
            .moves = Moves::kFirst,
            .uses = {{{.kind = InputUse::Kind::kIndex, .input = 1}}},
        },
};

}  // namespace assay::op_onnx_GatherElements
