// Shared by RNN, GRU and LSTM: shapes, directions, sequence lengths and the walk through time.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "base/parallel.h"
#include "ops/op_context.h"
#include "ops/rnn/activation.h"
#include "ops/rnn/arithmetic.h"
#include "ops/tensor/elements.h"

namespace assay {

/// Infers Y, Y_h and, for `states` 2, Y_c; `gates` hidden-sized blocks make up the first extent of W and R.
void infer_recurrent(InferContext& c, int64_t gates, size_t states);

/// A recurrent node's inputs, checked. Their order: X, W, R, B, sequence_lens, initial_h, then initial_c and
/// P of LSTM.
struct Recurrence {
  int64_t sequence, batch, input, hidden, directions, gates;
  bool by_batch;                 ///< layout 1: batch before sequence
  bool first_is_reverse;         ///< direction "reverse"
  double clip;                   ///< infinity when there is no attribute
  std::vector<int64_t> lengths;  ///< of each batch element's sequence
  std::vector<Activation> activations;
  const double *x, *w, *r;
  const double* bias;      ///< [directions, 2 * gates * hidden], or null
  const double* peephole;  ///< [directions, 3 * hidden], or null

  bool is_reverse(int64_t direction) const { return direction == 1 || first_is_reverse; }
  /// Where row (time, batch) of X begins.
  const double* x_row(int64_t t, int64_t b) const {
    return x + (by_batch ? b * sequence + t : t * batch + b) * input;
  }
  /// W's and R's bias of element `i` of the gates of a direction.
  double input_bias(int64_t direction, int64_t i) const {
    return bias == nullptr ? 0 : bias[direction * 2 * gates * hidden + i];
  }
  double hidden_bias(int64_t direction, int64_t i) const {
    return bias == nullptr ? 0 : bias[(direction * 2 + 1) * gates * hidden + i];
  }
  /// The sum of both, as a term of a gate's sum.
  template <typename A>
  typename A::Number gate_bias(A& arithmetic, int64_t direction, int64_t i) const {
    const double w = input_bias(direction, i), r = hidden_bias(direction, i);
    return arithmetic.term(arithmetic.given(w + r), std::fabs(w) + std::fabs(r));
  }
  /// Additions on the way to a gate's sum: both products, both biases, and a peephole.
  int64_t gate_terms() const { return input + hidden + 3; }
};
Recurrence read_recurrence(const EvalContext& c, int64_t gates,
                           const std::vector<std::string>& default_activations);

/// A state of every batch element and hidden unit.
template <typename Number>
using State = std::vector<Number>;

/// The states after the last step, and the hidden states of all steps, laid out as the outputs are.
template <typename Number>
struct RecurrentOutputs {
  State<Number> y;                    ///< Y
  std::vector<State<Number>> states;  ///< Y_h, Y_c
};

/// For Arithmetic::at: the parts of a step of a direction, and the units of a part.
enum class StepPart : uint8_t { kInputProduct, kHiddenProduct, kCandidateProduct, kGates, kCandidate };
inline uint64_t step_place(int64_t direction, StepPart part, int64_t unit = 0) {
  return (static_cast<uint64_t>(direction) * 8 + static_cast<uint64_t>(part)) << 48 |
         static_cast<uint64_t>(unit);
}

/// The least hidden units per thread.
inline constexpr int64_t kUnitGrain = 64;
/// Calls f(own, first, last) for ranges of units, in parallel, with an arithmetic that gives each unit the
/// same errors as sequential work. f calls own.at() once for each.
template <typename A, typename F>
void for_units(A& arithmetic, int64_t units, F f) {
  parallel_for(units, kUnitGrain, [&](int64_t first, int64_t last) {
    auto own = arithmetic.ahead(static_cast<uint64_t>(first));
    f(own, first, last);
  });
  arithmetic.skip(static_cast<uint64_t>(units));
}

/// Where (direction, b) of initial and final states begins.
inline int64_t state_offset(const Recurrence& r, int64_t direction, int64_t b) {
  return (r.by_batch ? b * r.directions + direction : direction * r.batch + b) * r.hidden;
}
inline int64_t output_offset(const Recurrence& r, int64_t t, int64_t direction, int64_t b) {
  return (r.by_batch ? (b * r.sequence + t) * r.directions + direction
                     : (t * r.directions + direction) * r.batch + b) *
         r.hidden;
}

/// X * W^T of a direction, rows in the order [time, batch].
template <typename A>
State<typename A::Number> input_products(A& arithmetic, const Recurrence& r, int64_t direction) {
  check_output_size(DType::kFloat64, {r.sequence, r.batch, r.gates * r.hidden});
  State<typename A::Number> x;
  x.reserve(static_cast<size_t>(r.sequence * r.batch * r.input));
  for (int64_t t = 0; t < r.sequence; ++t)
    for (int64_t b = 0; b < r.batch; ++b) {
      const double* row = r.x_row(t, b);
      for (int64_t i = 0; i < r.input; ++i) x.push_back(arithmetic.given(row[i]));
    }
  const int64_t rows = r.gates * r.hidden;
  arithmetic.at(step_place(direction, StepPart::kInputProduct));
  return arithmetic.product(x, r.sequence * r.batch, r.input, r.w + direction * rows * r.input, rows);
}

/// Walks every direction through time. `initial[i]` is the tensor of the i-th state, or undefined for zeros.
/// cell(direction, active, states) makes one step for the whole batch: active[b] points to b's row of
/// input_products(), or is null when b's sequence has ended, and then its states must stay.
template <typename A, typename Cell>
RecurrentOutputs<typename A::Number> walk(A& arithmetic, const Recurrence& r,
                                          const std::vector<Tensor>& initial, Cell cell) {
  using Number = typename A::Number;
  RecurrentOutputs<Number> out;
  check_output_size(DType::kFloat64, {r.sequence, r.directions, r.batch, r.hidden});
  const auto size = static_cast<size_t>(r.directions * r.batch * r.hidden);
  out.y.assign(static_cast<size_t>(r.sequence) * size, arithmetic.given(0));
  out.states.assign(initial.size(), State<Number>(size));
  for (int64_t d = 0; d < r.directions; ++d) {
    std::vector<State<Number>> states(
        initial.size(), State<Number>(static_cast<size_t>(r.batch * r.hidden), arithmetic.given(0)));
    for (size_t i = 0; i < initial.size(); ++i)
      for (int64_t b = 0; initial[i].defined() && b < r.batch; ++b)
        for (int64_t j = 0; j < r.hidden; ++j)
          states[i][static_cast<size_t>(b * r.hidden + j)] =
              arithmetic.given(initial[i].data<double>()[state_offset(r, d, b) + j]);
    const State<Number> products = input_products(arithmetic, r, d);
    std::vector<const Number*> active(static_cast<size_t>(r.batch));
    for (int64_t step = 0; step < r.sequence; ++step) {
      const auto time = [&](int64_t b) {
        return r.is_reverse(d) ? r.lengths[static_cast<size_t>(b)] - 1 - step : step;
      };
      for (int64_t b = 0; b < r.batch; ++b)
        active[static_cast<size_t>(b)] = step < r.lengths[static_cast<size_t>(b)]
                                             ? products.data() + (time(b) * r.batch + b) * r.gates * r.hidden
                                             : nullptr;
      cell(d, active, states);
      for (int64_t b = 0; b < r.batch; ++b)
        if (active[static_cast<size_t>(b)] != nullptr)
          std::copy_n(states[0].begin() + b * r.hidden, r.hidden,
                      out.y.begin() + output_offset(r, time(b), d, b));
    }
    for (size_t i = 0; i < states.size(); ++i)
      for (int64_t b = 0; b < r.batch; ++b)
        std::copy_n(states[i].begin() + b * r.hidden, r.hidden,
                    out.states[i].begin() + state_offset(r, d, b));
  }
  return out;
}

/// Shapes of Y and of a state.
Shape recurrent_output_shape(const Recurrence& r);
Shape recurrent_state_shape(const Recurrence& r);

/// Sets Y, Y_h and further states.
void set_recurrent_outputs(EvalContext& c, const Recurrence& r, const RecurrentOutputs<double>& out);
/// The errors of output i: 0 is Y. Infinite where nothing bounds them.
Tensor recurrent_errors(const Recurrence& r, const RecurrentOutputs<Tracked::Number>& out, size_t i);

}  // namespace assay
