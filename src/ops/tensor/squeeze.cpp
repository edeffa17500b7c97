// Squeeze: drops dimensions of extent 1: those that axes names (an attribute before opset 13, an input from
// then on), or all without it.
#include <algorithm>

#include "ops/op_list.h"
#include "ops/tensor/axes.h"

namespace assay::op_onnx_Squeeze {
namespace {

bool names_axes(const OpContext& c) { return c.since() < 13 ? c.has_attr("axes") : c.has_input(1); }

/// A rank-1 tensor of one known integer, as a scalar.
void propagate(InferContext& c) {
  const Dims* extents = c.input_extents(0);
  if (extents != nullptr && extents->size() == 1) c.set_output_extents(0, *extents);
}

void infer(InferContext& c) {
  if (c.since() >= 13) check_list(c, 1, /*or_scalar=*/true);
  const Dims* in = c.input_dims(0);
  if (in == nullptr) return c.set_output(0, c.input_dtype(0));
  Dims out;
  if (names_axes(c)) {
    const auto axes = c.since() < 13 ? c.attr_ints("axes") : known_integers(c, 1);
    if (!axes) {
      const int64_t count = known_length(c, 1);
      if (count < 0 || count > static_cast<int64_t>(in->size())) return c.set_output(0, c.input_dtype(0));
      return c.set_output(0, c.input_dtype(0), Dims(in->size() - static_cast<size_t>(count)));
    }
    const std::vector<size_t> dropped = normalize_axes(*axes, in->size());
    for (size_t d = 0; d < in->size(); ++d) {
      const bool drop = std::find(dropped.begin(), dropped.end(), d) != dropped.end();
      c.check(!drop || !(*in)[d].is_known() || (*in)[d].value() == 1, "axis {} to be squeezed has extent {}",
              d, (*in)[d].value());
      if (!drop) out.push_back((*in)[d]);
    }
  } else {
    for (const Dim& d : *in) {
      if (!d.is_known()) return c.set_output(0, c.input_dtype(0));
      if (d.value() != 1) out.push_back(d);
    }
  }
  c.set_output(0, c.input_dtype(0), std::move(out));
  propagate(c);
}

void eval(EvalContext& c) {
  const Shape& in = c.shape(0);
  std::vector<bool> drop(in.size());
  if (names_axes(c)) {
    const auto axes = c.since() < 13 ? c.attr_ints("axes") : integer_list(c, 1, true);
    for (const size_t axis : normalize_axes(axes, in.size())) {
      c.check(in[axis] == 1, "axis {} to be squeezed has extent {}", axis, in[axis]);
      drop[axis] = true;
    }
  } else {
    for (size_t d = 0; d < in.size(); ++d) drop[d] = in[d] == 1;
  }
  Shape out;
  for (size_t d = 0; d < in.size(); ++d)
    if (!drop[d]) out.push_back(in[d]);
  c.set_output(0, c.input(0).reshaped(out));
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  data: T
out squeezed: T
attr axes: ints
type T: @all)",
     infer, eval},
    {11, "same as Squeeze-1", infer, eval},
    {13, R"(
in  data: T
in  axes: int64 ?
out squeezed: T
type T: @all_ir4)",
     infer, eval},
    {21, R"(
in  data: T
in  axes: int64 ?
out squeezed: T
type T: @all_ir10)",
     infer, eval},
    {23, R"(
in  data: T
in  axes: int64 ?
out squeezed: T
type T: @all_ir11)",
     infer, eval},
    {24, R"(
in  data: T
in  axes: int64 ?
out squeezed: T
type T: @all_ir12)",
     infer, eval},
    {25, R"(
in  data: T
in  axes: int64 ?
out squeezed: T
type T: @all_ir13)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Squeeze",
    .versions = kVersions,
    .types = EvalTypes::kAsStored,
    .facts =
        {
            .moves = Moves::kView,
            .uses = {{{.kind = InputUse::Kind::kAxis, .input = 1}}},
        },
};

}  // namespace assay::op_onnx_Squeeze
