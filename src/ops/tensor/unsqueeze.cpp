// Unsqueeze: adds dimensions of extent 1; axes (an attribute before opset 13, an input from then on) gives
// their positions in the output.
#include "ops/op_list.h"
#include "ops/tensor/axes.h"

namespace assay::op_onnx_Unsqueeze {
namespace {

/// True for the dimensions of the output that are new.
std::vector<bool> new_dimensions(const std::vector<int64_t>& axes, size_t rank) {
  std::vector<bool> is_new(rank + axes.size());
  for (const size_t axis : normalize_axes(axes, is_new.size())) is_new[axis] = true;
  return is_new;
}

void infer(InferContext& c) {
  if (c.since() >= 13) check_list(c, 1, /*or_scalar=*/true);
  const Dims* in = c.input_dims(0);
  if (in == nullptr) return c.set_output(0, c.input_dtype(0));
  const auto axes = c.since() < 13 ? c.attr_ints("axes") : known_integers(c, 1);
  if (!axes) {
    const int64_t count = known_length(c, 1);
    if (count < 0 || count > static_cast<int64_t>(kLongestExtents)) return c.set_output(0, c.input_dtype(0));
    return c.set_output(0, c.input_dtype(0), Dims(in->size() + static_cast<size_t>(count)));
  }
  Dims out;
  auto next = in->begin();
  for (const bool is_new : new_dimensions(*axes, in->size())) out.push_back(is_new ? Dim(1) : *next++);
  const bool vector = out.size() == 1;
  c.set_output(0, c.input_dtype(0), std::move(out));
  if (vector) propagate_integers(c);
}

void eval(EvalContext& c) {
  const Shape& in = c.shape(0);
  const auto axes = c.since() < 13 ? c.attr_ints("axes") : integer_list(c, 1, true);
  Shape out;
  auto next = in.begin();
  for (const bool is_new : new_dimensions(axes, in.size())) out.push_back(is_new ? 1 : *next++);
  c.set_output(0, c.input(0).reshaped(out));
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  data: T
out expanded: T
attr axes: ints required
type T: @all)",
     infer, eval},
    {11, "same as Unsqueeze-1", infer, eval},
    {13, R"(
in  data: T
in  axes: int64
out expanded: T
type T: @all_ir4)",
     infer, eval},
    {21, R"(
in  data: T
in  axes: int64
out expanded: T
type T: @all_ir10)",
     infer, eval},
    {23, R"(
in  data: T
in  axes: int64
out expanded: T
type T: @all_ir11)",
     infer, eval},
    {24, R"(
in  data: T
in  axes: int64
out expanded: T
type T: @all_ir12)",
     infer, eval},
    {25, R"(
in  data: T
in  axes: int64
out expanded: T
type T: @all_ir13)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Unsqueeze",
    .versions = kVersions,
    .types = EvalTypes::kAsStored,
    .facts =
        {
            .moves = Moves::kView,
            .uses = {{{.kind = InputUse::Kind::kAxis, .input = 1}}},
        },
};

}  // namespace assay::op_onnx_Unsqueeze
