// SplitToSequence: cuts a tensor into pieces along an axis. `split` is the length of each piece (the last may
// be shorter) or a list of lengths; without it every piece is one entry, whose axis keepdims = 0 drops.
#include "ops/op_list.h"
#include "ops/sequence/elements_of.h"
#include "ops/tensor/axes.h"
#include "ops/tensor/strided_copy.h"

namespace assay::op_onnx_SplitToSequence {
namespace {

/// Lengths of pieces of `length` that cover an extent.
std::vector<int64_t> equal_lengths(const OpContext& c, int64_t extent, int64_t length) {
  c.check(length > 0, "split is {}, and a piece must have at least one entry", length);
  const int64_t pieces = extent / length + (extent % length != 0 ? 1 : 0);
  c.check(pieces <= kLongestSequence, "extent {} in pieces of {} makes more than {} tensors", extent, length,
          kLongestSequence);
  std::vector<int64_t> lengths(static_cast<size_t>(pieces), length);
  if (extent % length != 0) lengths.back() = extent % length;
  return lengths;
}

void check_lengths(const OpContext& c, const std::vector<int64_t>& lengths, int64_t extent) {
  int64_t sum = 0;
  for (const int64_t n : lengths) {
    c.check(n >= 0, "split has the negative length {}", n);
    c.check(!__builtin_add_overflow(sum, n, &sum), "the lengths of split overflow");
  }
  c.check(sum == extent, "the lengths of split add up to {}, the extent is {}", sum, extent);
}

bool drops_axis(const OpContext& c) { return !c.has_input(1) && c.attr_int("keepdims") == 0; }

/// The extent that all pieces have along the axis, when that is known.
Dim piece_extent(const InferContext& c, const Dim& extent) {
  if (!c.has_input(1)) return Dim(1);
  const std::optional<std::vector<int64_t>> split = known_integers(c, 1);
  if (!split || split->empty()) return {};
  if (c.input_rank(1) == 1) {
    if (extent.is_known()) check_lengths(c, *split, extent.value());
    for (const int64_t n : *split)
      if (n != split->front()) return {};
    return Dim(split->front());
  }
  const int64_t length = split->front();
  c.check(length > 0, "split is {}, and a piece must have at least one entry", length);
  return extent.is_known() && extent.value() % length == 0 ? Dim(length) : Dim();
}

void infer(InferContext& c) {
  Type element = Type::tensor(c.input_dtype(0));
  if (const Dims* in = c.input_dims(0)) {
    const auto axis = static_cast<size_t>(normalize_axis(c.attr_int("axis"), static_cast<int>(in->size())));
    element.dims = *in;
    if (drops_axis(c))
      element.dims->erase(element.dims->begin() + static_cast<std::ptrdiff_t>(axis));
    else
      (*element.dims)[axis] = piece_extent(c, (*in)[axis]);
  }
  c.set_output_type(0, sequence_of(std::move(element)));
}

std::vector<int64_t> piece_lengths(const EvalContext& c, int64_t extent) {
  if (!c.has_input(1)) return equal_lengths(c, extent, 1);
  const std::vector<int64_t> split = integer_list(c, 1, /*or_scalar=*/true);
  if (c.input(1).rank() == 0) return equal_lengths(c, extent, split[0]);
  check_lengths(c, split, extent);
  return split;
}

void eval(EvalContext& c) {
  const Tensor& x = c.input(0);
  const auto axis = static_cast<size_t>(normalize_axis(c.attr_int("axis"), x.rank()));
  std::vector<Tensor> pieces;
  Region from{0, x.shape().strides()};
  const int64_t step = from.strides[axis];
  for (const int64_t length : piece_lengths(c, x.dim(axis))) {
    Shape shape = x.shape();
    shape[axis] = length;
    Tensor piece = copy_region(x, from, shape);
    if (drops_axis(c)) {
      shape.erase_at(axis);
      piece = piece.reshaped(shape);
    }
    pieces.push_back(std::move(piece));
    from.offset += length * step;
  }
  c.set_output(0, make_sequence(std::move(pieces)));
}

constexpr OpVersion kVersions[] = {
    {11, R"(
in  input: T
in  split: I ?
out output_sequence: S
attr keepdims: int = 1
attr axis: int = 0
type T: @all
type I: int32 int64
type S: seq(tensor(@all)))",
     infer, eval},
    {24, R"(
in  input: T
in  split: I ?
out output_sequence: S
attr keepdims: int = 1
attr axis: int = 0
type T: @all_ir4
type I: int32 int64
type S: seq(tensor(@all_ir4)))",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "SplitToSequence",
    .versions = kVersions,
    .types = EvalTypes::kAsStored,
};

}  // namespace assay::op_onnx_SplitToSequence
