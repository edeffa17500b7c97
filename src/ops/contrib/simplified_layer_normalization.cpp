// SimplifiedLayerNormalization: x / sqrt(mean of x^2 + epsilon) over the axes from `axis` on, * scale. ONNX
// Runtime writes it in the domain of the standard, which does not know it.
#include <algorithm>

#include "ops/infer_util.h"
#include "ops/numerics/steps.h"
#include "ops/op_list.h"

namespace assay::op_onnx_SimplifiedLayerNormalization {
namespace {

void infer(InferContext& c) {
  const int64_t stash = c.attr_int("stash_type");
  c.check(is_known_dtype(stash), "attribute 'stash_type' is {}, which is not an element type", stash);
  const Dims *in = c.input_dims(0), *scale = c.input_dims(1);
  c.set_output(0, c.input_dtype(1));
  c.set_output(1, static_cast<DType>(stash));
  if (in == nullptr) return;
  const auto axis = normalize_axis(c.attr_int("axis"), static_cast<int>(in->size()));
  if (scale != nullptr) {
    c.check(scale->size() <= in->size(), "the scale has {} dimensions, the data {}", scale->size(),
            in->size());
    broadcast_dims(*in, *scale);
  }
  Dims rows = *in;
  std::fill(rows.begin() + axis, rows.end(), Dim(1));
  c.set_output(0, c.input_dtype(1), *in);
  c.set_output(1, static_cast<DType>(stash), std::move(rows));
}

void compute(EvalContext& c, Steps& steps, std::vector<Traced>& outputs) {
  const Shape& in = c.shape(0);
  const auto axis = static_cast<size_t>(normalize_axis(c.attr_int("axis"), in.rank()));
  const int64_t n = in.numel(axis, in.size());
  c.check(n > 0, "an input of shape {} has nothing to normalise from axis {} on", in.str(), axis);
  c.check(broadcast(in, c.shape(1)) == in, "a scale of shape {} does not broadcast to {}", c.shape(1).str(),
          in.str());
  outputs.resize(2);
  const Traced y =
      steps.normalize(steps.given(c.input(0)), n, c.attr_float("epsilon"), false, nullptr, &outputs[1]);
  outputs[0] = steps.multiply(y, steps.given(c.input(1)));
  Shape rows = in;
  std::fill(rows.begin() + static_cast<std::ptrdiff_t>(axis), rows.end(), 1);
  outputs[1] = Steps::move(outputs[1], [&](const Tensor& t) { return t.reshaped(rows); });
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  X: T
in  scale: V
out Y: V
out inv_std_var: U ?
attr stash_type: int = 1
attr epsilon: float = 9.99999975e-06
attr axis: int = -1
type T: @float_ir4
type U: float double
type V: @float_ir4)",
     infer, FusedOp<compute>::eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "SimplifiedLayerNormalization",
    .versions = kVersions,
    .numerics = FusedOp<compute>::kNumerics,
    .facts =
        {
            .mixes_axis = true,
            .sums = SumsFact::kByRootOfSquares,
        },
};

}  // namespace assay::op_onnx_SimplifiedLayerNormalization
