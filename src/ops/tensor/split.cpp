// Split: cuts a tensor into pieces along an axis. The lengths come from the attribute (before opset 13) or
// the input `split` (in opset 1 either); without it the pieces are equal, and from opset 18 on the last of
// num_outputs may be shorter.
#include <numeric>

#include "ops/op_list.h"
#include "ops/tensor/axes.h"
#include "ops/tensor/strided_copy.h"
#include "tensor/convert.h"

namespace assay::op_onnx_Split {
namespace {

/// Lengths of equal pieces of an extent.
std::vector<int64_t> equal_lengths(const OpContext& c, int64_t extent) {
  const auto pieces = static_cast<int64_t>(c.output_count());
  c.check(pieces > 0, "there is no output");
  if (c.since() < 18) {
    c.check(extent % pieces == 0, "extent {} cannot be split into {} equal pieces", extent, pieces);
    return std::vector<int64_t>(static_cast<size_t>(pieces), extent / pieces);
  }
  c.check(c.has_attr("num_outputs"), "neither the input split nor the attribute num_outputs is given");
  c.check(c.attr_int("num_outputs") == pieces, "num_outputs is {}, but there are {} outputs",
          c.attr_int("num_outputs"), pieces);
  const int64_t length = (extent + pieces - 1) / pieces;
  std::vector<int64_t> lengths(static_cast<size_t>(pieces), length);
  lengths.back() = extent - length * (pieces - 1);
  c.check(lengths.back() >= 0, "extent {} is too small for {} pieces of {}", extent, pieces, length);
  return lengths;
}

void check_lengths(const OpContext& c, const std::vector<int64_t>& lengths) {
  c.check(c.since() < 18 || !c.has_attr("num_outputs"),
          "both the input split and the attribute num_outputs are given");
  c.check(lengths.size() == c.output_count(), "split has {} lengths for {} outputs", lengths.size(),
          c.output_count());
  for (const int64_t n : lengths) c.check(n >= 0, "split has the negative length {}", n);
}

/// The lengths that the node gives itself; empty when it gives none.
std::vector<int64_t> attribute_lengths(const OpContext& c) {
  return c.since() < 13 ? c.attr_ints("split") : std::vector<int64_t>();
}

/// Whether the lengths are an input.
bool takes_input(const OpContext& c) { return (c.since() >= 13 || c.since() < 2) && c.has_input(1); }

/// In opset 1 the input has the type of the data.
std::vector<int64_t> input_lengths(const EvalContext& c) {
  return c.since() >= 2 ? integer_list(c, 1) : convert(c.input(1), DType::kInt64).to_int64();
}

void check_sum(const OpContext& c, const std::vector<int64_t>& lengths, int64_t extent) {
  int64_t sum = 0;
  for (const int64_t n : lengths)
    c.check(!__builtin_add_overflow(sum, n, &sum), "the lengths of split overflow");
  c.check(sum == extent, "the lengths of split add up to {}, the extent is {}", sum, extent);
}

void propagate(InferContext& c, const std::vector<int64_t>& lengths) {
  const Dims* extents = c.input_extents(0);
  if (extents == nullptr) return;
  auto first = extents->begin();
  for (size_t i = 0; i < lengths.size(); ++i) {
    const auto last = first + lengths[i];
    if (c.wants_output(i)) c.set_output_extents(i, Dims(first, last));
    first = last;
  }
}

void infer(InferContext& c) {
  if (c.since() >= 13) check_list(c, 1);
  const Dims* in = c.input_dims(0);
  if (in == nullptr) {
    for (size_t i = 0; i < c.output_count(); ++i) c.set_output(i, c.input_dtype(0));
    return;
  }
  const auto axis = static_cast<size_t>(normalize_axis(c.attr_int("axis", 0), static_cast<int>(in->size())));
  const Dim extent = (*in)[axis];
  std::vector<int64_t> lengths = attribute_lengths(c);
  const bool by_input = takes_input(c);
  if (by_input && c.since() >= 2)
    if (const auto known = known_integers(c, 1)) lengths = *known;
  if (!lengths.empty()) {
    check_lengths(c, lengths);
    if (extent.is_known()) check_sum(c, lengths, extent.value());
  } else if (!by_input && extent.is_known()) {
    lengths = equal_lengths(c, extent.value());
  }
  for (size_t i = 0; i < c.output_count(); ++i) {
    Dims out = *in;
    out[axis] = lengths.empty() ? Dim() : Dim(lengths[i]);
    c.set_output(i, c.input_dtype(0), std::move(out));
  }
  if (in->size() == 1 && extent.is_known() && !lengths.empty()) propagate(c, lengths);
}

void eval(EvalContext& c) {
  const Shape& in = c.shape(0);
  const auto axis = static_cast<size_t>(normalize_axis(c.attr_int("axis", 0), in.rank()));
  std::vector<int64_t> lengths = attribute_lengths(c);
  if (takes_input(c)) lengths = input_lengths(c);
  if (lengths.empty())
    lengths = equal_lengths(c, in[axis]);
  else
    check_lengths(c, lengths);
  check_sum(c, lengths, in[axis]);
  Region from{0, in.strides()};
  for (size_t i = 0; i < lengths.size(); ++i) {
    Shape out = in;
    out[axis] = lengths[i];
    if (c.wants_output(i)) c.set_output(i, copy_region(c.input(0), from, out));
    from.offset += lengths[i] * from.strides[axis];
  }
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  input: T
in  split: T ?
out outputs...: T ...
attr split: ints
attr axis: int
type T: @float)",
     infer, eval},
    {2, R"(
in  input: T
out outputs: T ...
attr split: ints
attr axis: int = 0
type T: @all)",
     infer, eval},
    {11, "same as Split-2", infer, eval},
    {13, R"(
in  input: T
in  split: int64 ?
out outputs: T ...
attr axis: int = 0
type T: @all_ir4)",
     infer, eval},
    {18, R"(
in  input: T
in  split: int64 ?
out outputs: T ...
attr num_outputs: int
attr axis: int = 0
type T: @all_ir4)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Split",
    .versions = kVersions,
    .types = EvalTypes::kAsStored,
    .facts =
        {
            .moves = Moves::kFirst,
            .uses = {{{.kind = InputUse::Kind::kCount, .input = 1}}},
        },
};

}  // namespace assay::op_onnx_Split
