#include "ops/contrib/quantized_product.h"

#include <cmath>

#include "ops/eval_util.h"
#include "ops/nn/matrix_product.h"
#include "ops/quant/integer_operands.h"

namespace assay {

Traced scaled_product(const EvalContext& c, Steps& steps, const Traced& a, double a_scale,
                      const QuantizedWeights& b) {
  const Tensor levels = quantized_matrix(c, b.levels, b.zero, true);
  Traced sums = {matrix_product(a.value, levels), {}};
  if (steps.bounds()) {
    const Tensor sizes = map_elements<double>(levels, [](double x) { return std::fabs(x); });
    sums.error = matrix_product(a.error, sizes);
  }
  const Tensor b_scale = matrix_parameter(c, b.levels, b.scale, true);
  const Traced scale = steps.multiply(steps.given(Tensor::scalar(a_scale)), steps.given(b_scale));
  Traced y = steps.multiply(sums, scale);
  c.check(y.value.shape() == sums.value.shape(), "a scale of shape {} does not fit a result of shape {}",
          b_scale.shape().str(), sums.value.shape().str());
  return y;
}

Traced add_bias(const EvalContext& c, Steps& steps, Traced a, size_t i) {
  if (!c.has_input(i)) return a;
  c.check(broadcast(c.shape(i), a.value.shape()) == a.value.shape(),
          "the bias of shape {} does not broadcast to {}", c.shape(i).str(), a.value.shape().str());
  return steps.add(a, steps.given(c.input(i)));
}

}  // namespace assay
