// Gather: the entries of an axis at the given indices; the axis is replaced by the dimensions of the indices.
#include <algorithm>

#include "ops/eval_util.h"
#include "ops/op_list.h"
#include "ops/tensor/axes.h"
#include "ops/tensor/elements.h"

namespace assay::op_onnx_Gather {
namespace {

/// Entries of a vector of extents at known indices.
void propagate(InferContext& c) {
  const Dims* extents = c.input_extents(0);
  const auto indices = known_integers(c, 1);
  if (extents == nullptr || !indices || indices->size() > kLongestExtents) return;
  Dims out;
  for (const int64_t i : *indices)
    out.push_back(
        (*extents)[static_cast<size_t>(resolve_index(i, static_cast<int64_t>(extents->size()), 0))]);
  c.set_output_extents(0, std::move(out));
}

void infer(InferContext& c) {
  const Dims *data = c.input_dims(0), *indices = c.input_dims(1);
  if (data == nullptr) return c.set_output(0, c.input_dtype(0));
  const auto axis = normalize_axis(c.attr_int("axis"), static_cast<int>(data->size()));
  if (indices == nullptr) return c.set_output(0, c.input_dtype(0));
  Dims out(data->begin(), data->begin() + axis);
  out.insert(out.end(), indices->begin(), indices->end());
  out.insert(out.end(), data->begin() + axis + 1, data->end());
  const bool from_vector = data->size() == 1 && indices->size() <= 1;
  c.set_output(0, c.input_dtype(0), std::move(out));
  if (from_vector) propagate(c);
}

void eval(EvalContext& c) {
  const Shape& in = c.shape(0);
  const auto axis = static_cast<size_t>(normalize_axis(c.attr_int("axis"), in.rank()));
  std::vector<int64_t> indices = c.input(1).to_int64();
  for (int64_t& i : indices) i = resolve_index(i, in[axis], axis);
  Shape out(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(axis));
  for (const int64_t d : c.shape(1)) out.push_back(d);
  for (size_t d = axis + 1; d < in.size(); ++d) out.push_back(in[d]);
  const Tensor data = unpacked(c.input(0));
  Tensor y = checked_allocation(data.dtype(), out);
  if (y.numel() == 0) return c.set_output(0, repacked(std::move(y), c.input(0).dtype()));
  const int64_t inner = in.numel(axis + 1, in.size()), extent = in[axis];
  const auto count = static_cast<int64_t>(indices.size());
  visit_elements(data.dtype(), [&]<typename E>() {
    const E* from = elements<E>(data);
    E* to = mutable_elements<E>(y);
    const int64_t grain = std::max<int64_t>(1, kElementGrain / inner);
    parallel_for(in.numel(0, axis) * count, grain, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        const int64_t row = i / count * extent + indices[static_cast<size_t>(i % count)];
        std::copy_n(from + row * inner, inner, to + i * inner);
      }
    });
  });
  c.set_output(0, repacked(std::move(y), c.input(0).dtype()));
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  data: T
in  indices: Tind
out output: T
attr axis: int = 0
type T: @all
type Tind: int32 int64)",
     infer, eval},
    {11, "same as Gather-1", infer, eval},
    {13, R"(
in  data: T
in  indices: Tind
out output: T
attr axis: int = 0
type T: @all_ir4
type Tind: int32 int64)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Gather",
    .versions = kVersions,
    .types = EvalTypes::kAsStored,
    .facts =
        {
            .moves = Moves::kFirst,
            .uses = {{{.kind = InputUse::Kind::kIndex, .input = 1}}},
        },
};

}  // namespace assay::op_onnx_Gather
