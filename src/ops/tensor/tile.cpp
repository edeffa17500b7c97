// Tile: the input repeated along each dimension; in opset 1 along one.
#include <cmath>

#include "ops/infer_util.h"
#include "ops/op_list.h"
#include "ops/tensor/axes.h"
#include "ops/tensor/elements.h"
#include "ops/tensor/strided_copy.h"
#include "tensor/convert.h"

namespace assay::op_onnx_Tile {
namespace {

void infer(InferContext& c) {
  check_list(c, 1);
  const Dims* in = c.input_dims(0);
  const Dims* repeats = c.input_extents(1);
  if (in == nullptr) {
    const int64_t rank = known_length(c, 1);
    if (rank < 0 || rank > static_cast<int64_t>(kLongestExtents)) return c.set_output(0, c.input_dtype(0));
    return c.set_output(0, c.input_dtype(0), Dims(static_cast<size_t>(rank)));
  }
  c.check(repeats == nullptr || repeats->size() == in->size(),
          "repeats has {} entries for an input of rank {}", repeats ? repeats->size() : 0, in->size());
  Dims out(in->size());
  if (repeats != nullptr)
    for (size_t d = 0; d < out.size(); ++d) out[d] = dim_mul((*in)[d], (*repeats)[d]);
  c.set_output(0, c.input_dtype(0), std::move(out));
}

void tile(EvalContext& c, const std::vector<int64_t>& repeats) {
  const Shape& in = c.shape(0);
  const std::vector<int64_t> strides = in.strides();
  c.check(repeats.size() == in.size(), "repeats has {} entries for an input of rank {}", repeats.size(),
          in.size());
  // The output as copies by element: two dimensions for each of the input.
  Shape out, interleaved;
  Region from;
  for (size_t d = 0; d < in.size(); ++d) {
    int64_t extent = 0;
    c.check(repeats[d] >= 0, "repeats has the negative entry {}", repeats[d]);
    c.check(!__builtin_mul_overflow(in[d], repeats[d], &extent), "{} repeats of extent {} overflow",
            repeats[d], in[d]);
    out.push_back(extent);
    interleaved.push_back(repeats[d]);
    interleaved.push_back(in[d]);
    from.strides.push_back(0);
    from.strides.push_back(strides[d]);
  }
  c.set_output(0, copy_region(c.input(0), from, interleaved).reshaped(out));
}

void eval(EvalContext& c) { tile(c, integer_list(c, 1)); }

void infer_one_axis(InferContext& c) {
  if (const Dims* in = c.input_dims(0))
    c.set_output(0, c.input_dtype(0), Dims(in->size()));
  else
    c.set_output(0, c.input_dtype(0));
}

/// The whole number that floating input i holds.
int64_t whole_number(const EvalContext& c, size_t i, const char* name) {
  c.check(c.input(i).numel() == 1, "{} must have one element, not the shape {}", name, c.shape(i).str());
  const double value = to_float64(c.input(i)).item<double>();
  c.check(value == std::floor(value) && std::abs(value) < 1e15, "{} is {}, which is not a whole number", name,
          value);
  return static_cast<int64_t>(value);
}

void eval_one_axis(EvalContext& c) {
  std::vector<int64_t> repeats(c.shape(0).size(), 1);
  const int64_t axis = normalize_axis(whole_number(c, 2, "axis"), c.shape(0).rank());
  repeats[static_cast<size_t>(axis)] = whole_number(c, 1, "tiles");
  tile(c, repeats);
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  input: T
in  tiles: T
in  axis: T
out output: T
type T: @float
type T1: int64)",
     infer_one_axis, eval_one_axis},
    {6, R"(
in  input: T
in  repeats: T1
out output: T
type T: @all
type T1: int64)",
     infer, eval},
    {13, R"(
in  input: T
in  repeats: T1
out output: T
type T: @all_ir4
type T1: int64)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Tile",
    .versions = kVersions,
    .types = EvalTypes::kAsStored,
    .facts =
        {
            .moves = Moves::kFirst,
            .uses = {{{.kind = InputUse::Kind::kCount, .input = 1}}},
            .size_input = 1,
            .may_grow = true,
        },
};

}  // namespace assay::op_onnx_Tile
