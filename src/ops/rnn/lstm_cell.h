// One step of an LSTM, and the walk that makes all of them; for every arithmetic (arithmetic.h).
// Gates i, o, f = f(X W^T + H R^T + P (.) C + b), c = g(...), C = f (.) C + i (.) c, H = o (.) h(C).
// The attribute clip bounds the gates' sums; h gets the cell unclipped, which is how ONNX Runtime and
// OpenVINO read the specification.
#pragma once

#include <vector>

#include "ops/rnn/recurrent.h"

namespace assay {

/// One step of one hidden unit; gates are `hidden` apart in the order i, o, f, c.
template <typename A>
class LstmCell {
 public:
  using Number = typename A::Number;
  LstmCell(A& arithmetic, const Recurrence& r, bool couple) : a_(arithmetic), r_(r), couple_(couple) {}

  void operator()(int64_t direction, const std::vector<const Number*>& active,
                  std::vector<State<Number>>& states) const {
    const int64_t rows = 4 * r_.hidden;
    a_.at(step_place(direction, StepPart::kHiddenProduct));
    const State<Number> recurrent =
        a_.product(states[0], r_.batch, r_.hidden, r_.r + direction * rows * r_.hidden, rows);
    for (int64_t b = 0; b < r_.batch; ++b) {
      const Number* inputs = active[static_cast<size_t>(b)];
      if (inputs == nullptr) continue;
      for_units(a_, r_.hidden, [&]<typename Own>(Own& own, int64_t first, int64_t last) {
        const LstmCell<Own> cell(own, r_, couple_);
        for (int64_t j = first; j < last; ++j) {
          const auto at = static_cast<size_t>(b * r_.hidden + j);
          own.at(step_place(direction, StepPart::kGates, b * r_.hidden + j));
          cell.step(direction, j, inputs, recurrent.data() + b * rows, states[0][at], states[1][at]);
        }
      });
    }
  }

 private:
  template <typename>
  friend class LstmCell;
  void step(int64_t direction, int64_t j, const Number* inputs, const Number* recurrent, Number& hidden,
            Number& cell) const {
    const Activation* f = r_.activations.data() + direction * 3;
    const auto gate = [&](int64_t index) {
      const int64_t i = index * r_.hidden + j;
      return a_.add(a_.add(inputs[i], recurrent[i]), r_.gate_bias(a_, direction, i));
    };
    const auto peep = [&](int64_t index, Number sum, Number from) {
      if (r_.peephole == nullptr) return sum;
      const double p = r_.peephole[(direction * 3 + index) * r_.hidden + j];
      const Number seen = a_.multiply(a_.given(p), from);
      return a_.add(sum, a_.term(seen, std::fabs(A::value(seen))));
    };
    const auto activate = [&](const Activation& function, Number sum) {
      return a_.apply(function, a_.clip(sum, r_.clip));
    };
    const Number input = activate(f[0], peep(0, gate(0), cell));
    const Number forget = couple_ ? a_.subtract(a_.given(1), input) : activate(f[0], peep(2, gate(2), cell));
    const Number candidate = activate(f[1], gate(3));
    cell = a_.add(a_.multiply(forget, cell), a_.multiply(input, candidate));
    const Number output = activate(f[0], peep(1, gate(1), cell));
    hidden = a_.multiply(output, a_.apply(f[2], cell));
  }

  A& a_;
  const Recurrence& r_;
  bool couple_;  ///< the forget gate is 1 - the input gate
};

/// Y, Y_h and Y_c of a node with the inputs and attributes of LSTM, whose products are those of `arithmetic`.
template <typename A>
RecurrentOutputs<typename A::Number> run_lstm(const EvalContext& c, const Recurrence& r, A arithmetic) {
  const std::vector<Tensor> initial = {c.has_input(5) ? c.input(5) : Tensor(),
                                       c.has_input(6) ? c.input(6) : Tensor()};
  return walk(arithmetic, r, initial, LstmCell<A>(arithmetic, r, c.attr_int("input_forget") != 0));
}

/// The inputs of such a node.
inline Recurrence read_lstm(const EvalContext& c) {
  return read_recurrence(c, 4, {"Sigmoid", "Tanh", "Tanh"});
}

}  // namespace assay
