// Shared by the optimizers of ai.onnx.preview.training: one update of several variables.
//
// The inputs are the learning rate R, the update count T, then for n variables n values X, n gradients G, and
// n tensors of each kind of state; the outputs n new values, then the new states in the same order.
#pragma once

#include <array>

#include "ops/eval_util.h"
#include "ops/numerics/running_error.h"
#include "ops/op_context.h"

namespace assay {

/// Every output has the type and shape of the input whose new value it is. `states`: tensors of state for
/// each variable. Throws Error when the numbers of inputs and outputs do not fit.
void infer_update(InferContext& c, size_t states);

/// R and T, checked to be single numbers.
struct UpdateStep {
  explicit UpdateStep(const EvalContext& c);
  double rate;
  double count;
};

namespace internal {
/// The number of variables. Throws Error unless the inputs, `kinds` for each variable, and outputs fit, and a
/// variable's inputs have one shape.
size_t check_variables(const EvalContext& c, size_t kinds);
}  // namespace internal

/// Updates all variables. step(x, g, states) takes one element's value, gradient and states, and returns the
/// new value; it changes the states in place. N is double, or Rounded for the error in units of u. Returns
/// the outputs as vectors of N.
template <typename N, size_t kStates, typename Step>
std::vector<std::vector<N>> update(const EvalContext& c, Step step) {
  const size_t n = internal::check_variables(c, kStates + 2);
  std::vector<std::vector<N>> outputs(n * (kStates + 1));
  for (size_t v = 0; v < n; ++v) {
    const auto input = [&](size_t kind) { return c.input(2 + kind * n + v).data<double>(); };
    const int64_t size = c.input(2 + v).numel();
    for (size_t k = 0; k <= kStates; ++k) outputs[k * n + v].resize(static_cast<size_t>(size));
    parallel_for(size, kElementGrain, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        std::array<N, kStates> states;
        for (size_t k = 0; k < kStates; ++k) states[k] = input(2 + k)[i];
        outputs[v][static_cast<size_t>(i)] = step(N(input(0)[i]), N(input(1)[i]), states);
        for (size_t k = 0; k < kStates; ++k) outputs[(k + 1) * n + v][static_cast<size_t>(i)] = states[k];
      }
    });
  }
  return outputs;
}

/// Sets the outputs. `n` variables; output i has the shape of the input whose new value it is.
void set_update(EvalContext& c, size_t states, const std::vector<std::vector<double>>& outputs);
/// u times the errors of output i.
Tensor update_errors(const std::vector<Rounded>& output, const Shape& shape, double u);

}  // namespace assay
