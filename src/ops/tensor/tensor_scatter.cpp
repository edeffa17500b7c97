// TensorScatter: a cache with new entries written along its sequence axis, for each batch from its own index
// on; in mode "circular" the index wraps around.
#include <algorithm>

#include "ops/infer_util.h"
#include "ops/op_list.h"
#include "ops/tensor/axes.h"
#include "ops/tensor/elements.h"

namespace assay::op_onnx_TensorScatter {
namespace {

bool is_circular(const OpContext& c) {
  const std::string& mode = c.attr_string("mode");
  c.check(mode == "linear" || mode == "circular", "the mode '{}' is unknown", mode);
  return mode == "circular";
}

size_t sequence_axis(const OpContext& c, size_t rank) {
  const int axis = normalize_axis(c.attr_int("axis"), static_cast<int>(rank));
  c.check(axis != 0, "the sequence axis cannot be 0, the batch");
  return static_cast<size_t>(axis);
}

void infer(InferContext& c) {
  const Dims *cache = c.input_dims(0), *update = c.input_dims(1);
  is_circular(c);
  if (cache != nullptr && update != nullptr) {
    c.check(cache->size() == update->size(), "the cache has rank {}, the update has rank {}", cache->size(),
            update->size());
    const size_t axis = sequence_axis(c, cache->size());
    for (size_t d = 0; d < cache->size(); ++d)
      if (d != axis) merge_dim((*cache)[d], (*update)[d]);
  }
  infer_same_as_input(c);
}

/// The position where each batch begins to write.
std::vector<int64_t> write_indices(const EvalContext& c, int64_t batches, int64_t room, bool circular) {
  std::vector<int64_t> at(static_cast<size_t>(batches), 0);
  if (c.has_input(2)) at = integer_list(c, 2);
  c.check(static_cast<int64_t>(at.size()) == batches, "{} write_indices for a batch of {}", at.size(),
          batches);
  for (const int64_t i : at)
    c.check(i >= 0 && (circular || i <= room), "the write index {} leaves no room for the update", i);
  return at;
}

void eval(EvalContext& c) {
  const Shape& shape = c.shape(0);
  const size_t axis = sequence_axis(c, shape.size());
  Shape expected = shape;
  c.check(c.input(1).rank() == shape.rank(), "the cache has shape {}, the update has shape {}", shape.str(),
          c.shape(1).str());
  const int64_t length = c.shape(1)[axis], room = shape[axis];
  expected[axis] = length;
  c.check(c.shape(1) == expected && length <= room, "the cache has shape {}, the update has shape {}",
          shape.str(), c.shape(1).str());
  c.check(c.input(0).dtype() == c.input(1).dtype(), "the cache is {}, the update is {}",
          dtype_name(c.input(0).dtype()), dtype_name(c.input(1).dtype()));
  const bool circular = is_circular(c);
  const std::vector<int64_t> first = write_indices(c, shape[0], room - length, circular);
  const int64_t inner = shape.numel(axis + 1, shape.size()), prefixes = shape.numel(0, axis);
  const int64_t per_batch = shape.numel(1, axis);
  const Tensor update = unpacked(c.input(1));
  Tensor y = unpacked(c.input(0));
  visit_elements(y.dtype(), [&]<typename E>() {
    const E* from = elements<E>(update);
    E* to = mutable_elements<E>(y);
    for (int64_t p = 0; p < prefixes; ++p)
      for (int64_t s = 0; s < length; ++s) {
        const int64_t at = (first[static_cast<size_t>(p / per_batch)] % room + s) % room;
        std::copy_n(from + (p * length + s) * inner, inner, to + (p * room + at) * inner);
      }
  });
  c.set_output(0, repacked(std::move(y), c.input(0).dtype()));
}

constexpr OpVersion kVersions[] = {
    {24, R"(
in  past_cache: T
in  update: T
in  write_indices: int64 ?
out present_cache: T
attr mode: string = "linear"
attr axis: int = -2
type T: @all_ir12)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "TensorScatter",
    .versions = kVersions,
    .types = EvalTypes::kAsStored,
    .facts =
        {
            .moves = Moves::kInputs,
            .uses = {{{.kind = InputUse::Kind::kIndex, .input = 2}}},
        },
};

}  // namespace assay::op_onnx_TensorScatter
