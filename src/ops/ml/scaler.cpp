// Scaler: (x - offset) * scale, with one pair for all or one for each entry of the last axis.
#include <cmath>

#include "ops/eval_util.h"
#include "ops/ml/features.h"
#include "ops/op_list.h"

namespace assay::op_ml_Scaler {
namespace {

void infer(InferContext& c) {
  c.set_output(0, DType::kFloat32);
  if (c.input_dims(0) != nullptr) c.set_output(0, DType::kFloat32, *c.input_dims(0));
}

/// f(x, offset, scale) of every element.
template <typename F>
Tensor scale_elements(const EvalContext& c, F f) {
  const Tensor x = number_input(c, 0);
  const std::vector<double> offsets = c.attr_floats("offset"), scales = c.attr_floats("scale");
  const int64_t width = x.rank() == 0 ? 1 : x.shape().back(), count = static_cast<int64_t>(offsets.size());
  c.check(offsets.size() == scales.size(), "{} offsets for {} scales", offsets.size(), scales.size());
  c.check(count == 1 || (count == width && count > 0), "{} offsets for {} features", count, width);
  Tensor y = Tensor::allocate(DType::kFloat64, x.shape());
  const double* in = x.data<double>();
  double* out = y.mutable_data<double>();
  parallel_for(x.numel(), kElementGrain, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const auto k = static_cast<size_t>(count == 1 ? 0 : i % width);
      out[i] = f(in[i], offsets[k], scales[k]);
    }
  });
  return y;
}

void eval(EvalContext& c) {
  c.set_output(0,
               scale_elements(c, [](double x, double offset, double scale) { return (x - offset) * scale; }));
}

/// Two roundings.
Tensor bound(EvalContext& c, double u, size_t, const Tensor&) {
  return scale_elements(
      c, [u](double x, double offset, double scale) { return 2 * u * std::fabs((x - offset) * scale); });
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  X: T
out Y: float
attr scale: floats
attr offset: floats
type T: float double int64 int32)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "ai.onnx.ml",
    .name = "Scaler",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kCustom, .bound = bound},
};

}  // namespace assay::op_ml_Scaler
