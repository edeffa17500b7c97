// CenterCropPad: brings axes to given extents by cropping or padding with zeros equally on both sides; an odd
// element goes to the right.
#include "ops/op_context.h"
#include "ops/op_list.h"
#include "ops/tensor/axes.h"
#include "ops/tensor/constant_pad.h"

namespace assay::op_onnx_CenterCropPad {
namespace {

void infer(InferContext& c) {
  const Dims* in = c.input_dims(0);
  if (in == nullptr) return c.set_output(0, c.input_dtype(0));
  check_list(c, 1);
  const Dims* wanted = c.input_extents(1);
  const std::vector<size_t> axes = axes_or_all(c, in->size());
  const int64_t length = known_length(c, 1);
  c.check(length < 0 || length == static_cast<int64_t>(axes.size()), "shape has {} entries for {} axes",
          length, axes.size());
  Dims out = *in;
  for (size_t i = 0; i < axes.size(); ++i) out[axes[i]] = wanted ? (*wanted)[i] : Dim();
  c.set_output(0, c.input_dtype(0), std::move(out));
}

void eval(EvalContext& c) {
  const Shape& in = c.shape(0);
  const std::vector<size_t> axes = axes_or_all(c, in.size());
  const std::vector<int64_t> wanted = integer_list(c, 1);
  c.check(wanted.size() == axes.size(), "shape has {} entries for {} axes", wanted.size(), axes.size());
  Pads pads{std::vector<int64_t>(in.size()), std::vector<int64_t>(in.size())};
  for (size_t i = 0; i < axes.size(); ++i) {
    const size_t d = axes[i];
    c.check(wanted[i] >= 0, "the shape has the negative extent {}", wanted[i]);
    // Halves towards zero: the start of a crop is rounded down as well as the padding on the left.
    const int64_t added = wanted[i] - in[d];
    pads.begin[d] = added / 2;
    pads.end[d] = added - added / 2;
  }
  c.set_output(0, pad_constant(c.input(0), pads, Tensor::zeros(c.input(0).dtype(), {})));
}

constexpr OpVersion kVersions[] = {
    {18, R"(
in  input_data: T
in  shape: Tind
out output_data: T
attr axes: ints
type T: @all_ir4
type Tind: int32 int64)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "CenterCropPad",
    .versions = kVersions,
    .types = EvalTypes::kAsStored,
    .facts =
        {
            .moves = Moves::kFilled,
            .uses = {{{.kind = InputUse::Kind::kCount, .input = 1}}},
        },
};

}  // namespace assay::op_onnx_CenterCropPad
