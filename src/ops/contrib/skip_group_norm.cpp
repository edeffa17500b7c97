// SkipGroupNorm: S = X + skip + bias, and Y is GroupNorm of S. skip has X's shape, or one number per image
// and channel; bias has one per channel.
#include "ops/contrib/channels_last.h"
#include "ops/contrib/group_normalizer.h"
#include "ops/infer_util.h"
#include "ops/op_list.h"

namespace assay::op_ms_SkipGroupNorm {
namespace {

void infer(InferContext& c) {
  infer_group_norm(c);
  if (const Dims* in = c.input_dims(0))
    c.set_output(1, c.input_dtype(0), *in);
  else
    c.set_output(1, c.input_dtype(0));
}

/// One number per image and channel in a shape that broadcasts to the image; a whole image as it is.
Tensor spread(const EvalContext& c, size_t i) {
  const Shape& image = c.shape(0);
  const size_t channel = has_channels_last(c) ? image.size() - 1 : 1;
  if (c.shape(i) == image) return c.input(i);
  Shape wide(std::vector<int64_t>(image.size(), 1));
  if (i == 3) wide[0] = image[0];
  wide[channel] = image[channel];
  c.check(c.input(i).numel() == wide.numel(), "input {} of shape {} does not go with an image of shape {}", i,
          c.shape(i).str(), image.str());
  return c.input(i).reshaped(wide);
}

void compute(EvalContext& c, Steps& steps, std::vector<Traced>& outputs) {
  outputs.resize(2);
  c.check(c.shape(0).size() >= 3, "the input has shape {}; it needs batch, channels and at least one more",
          c.shape(0).str());
  Traced sum = steps.add(steps.given(c.input(0)), steps.given(spread(c, 3)));
  if (c.has_input(4)) sum = steps.add(sum, steps.given(spread(c, 4)));
  outputs[0] = group_norm(c, steps, sum);
  outputs[1] = std::move(sum);
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  X: T
in  gamma: M
in  beta: M
in  skip: T
in  bias: T ?
out Y: T
out S: T ?
attr channels_last: int = 1
attr activation: int required
attr groups: int required
attr epsilon: float = 9.99999975e-06
type T: float16 float
type M: float16 float)",
     infer, FusedOp<compute>::eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "com.microsoft",
    .name = "SkipGroupNorm",
    .versions = kVersions,
    .numerics = FusedOp<compute>::kNumerics,
};

}  // namespace assay::op_ms_SkipGroupNorm
