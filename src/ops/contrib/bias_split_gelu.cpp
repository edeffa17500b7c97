// BiasSplitGelu: Y = left * Gelu(right), the halves of X + bias along the last dimension.
#include "ops/contrib/gelus.h"
#include "ops/contrib/hidden_vector.h"
#include "ops/infer_util.h"
#include "ops/op_list.h"
#include "ops/tensor/strided_copy.h"

namespace assay::op_ms_BiasSplitGelu {
namespace {

void infer(InferContext& c) {
  check_hidden_vector(c, 1);
  const Dims* in = c.input_dims(0);
  if (in == nullptr) return c.set_output(0, c.input_dtype(0));
  c.check(in->size() == 3, "the input has {} dimensions where 3 are needed", in->size());
  c.check(!in->back().is_known() || in->back().value() % 2 == 0, "{} elements have no two halves",
          in->back().str());
  c.set_output(0, c.input_dtype(0), {(*in)[0], (*in)[1], dim_floor_div((*in)[2], Dim(2))});
}

void compute(EvalContext& c, Steps& steps, std::vector<Traced>& outputs) {
  const Shape& in = c.shape(0);
  c.check(in.size() == 3 && in.back() % 2 == 0,
          "the input has shape {} where 3 dimensions, the last of them even, are needed", in.str());
  const Traced x = steps.add(steps.given(c.input(0)), steps.given(hidden_vector(c, 1, in.back())));
  const Shape half = {in[0], in[1], in[2] / 2};
  const auto part = [&](int64_t first) {
    return Steps::move(x, [&](const Tensor& t) { return copy_region(t, {first, in.strides()}, half); });
  };
  outputs[0] = steps.multiply(part(0), gelu(steps, part(half[2])));
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  X: T
in  bias: T
out Y: T
type T: float16 float)",
     infer, FusedOp<compute>::eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "com.microsoft",
    .name = "BiasSplitGelu",
    .versions = kVersions,
    .numerics = FusedOp<compute>::kNumerics,
};

}  // namespace assay::op_ms_BiasSplitGelu
