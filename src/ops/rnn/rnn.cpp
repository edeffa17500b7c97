// RNN: H = f(X W^T + H R^T + b).
#include "kernels/rnn/recurrence.h"
#include "ops/multiply_accumulates.h"
#include "ops/op_list.h"
#include "ops/rnn/recurrent.h"

namespace assay::op_onnx_RNN {
namespace {

void infer(InferContext& c) { infer_recurrent(c, 1, 1); }

template <typename A>
class Cell {
 public:
  using Number = typename A::Number;
  Cell(A& arithmetic, const Recurrence& r) : a_(arithmetic), r_(r) {}

  void operator()(int64_t direction, const std::vector<const Number*>& active,
                  std::vector<State<Number>>& states) const {
    const int64_t n = r_.hidden;
    a_.at(step_place(direction, StepPart::kHiddenProduct));
    const State<Number> recurrent = a_.product(states[0], r_.batch, n, r_.r + direction * n * n, n);
    const Activation& f = r_.activations[static_cast<size_t>(direction)];
    for (int64_t b = 0; b < r_.batch; ++b) {
      const Number* inputs = active[static_cast<size_t>(b)];
      if (inputs == nullptr) continue;
      for_units(a_, n, [&](auto& own, int64_t first, int64_t last) {
        for (int64_t j = first; j < last; ++j) {
          const auto at = static_cast<size_t>(b * n + j);
          own.at(step_place(direction, StepPart::kGates, b * n + j));
          const Number sum = own.add(own.add(inputs[j], recurrent[at]), r_.gate_bias(own, direction, j));
          states[0][at] = own.apply(f, own.clip(sum, r_.clip));
        }
      });
    }
  }

 private:
  A& a_;
  const Recurrence& r_;
};

template <typename A>
RecurrentOutputs<typename A::Number> run(const EvalContext& c, const Recurrence& r, A arithmetic) {
  return walk(arithmetic, r, {c.has_input(5) ? c.input(5) : Tensor()}, Cell<A>(arithmetic, r));
}

Recurrence read(const EvalContext& c) { return read_recurrence(c, 1, {"Tanh"}); }

void eval(EvalContext& c) {
  const Recurrence r = read(c);
  set_recurrent_outputs(c, r, run(c, r, Exact()));
}

/// The recurrence with every number's error propagated (arithmetic.h).
Tensor bound(EvalContext& c, double u, size_t i, const Tensor&) {
  const Recurrence r = read(c);
  return recurrent_errors(r, run(c, r, Tracked(u, r.gate_terms())), i);
}

void perturb(EvalContext& c, double u, uint64_t key) {
  const Recurrence r = read(c);
  set_recurrent_outputs(c, r, run(c, r, Noisy(u, key)));
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  X: T
in  W: T
in  R: T
in  B: T ?
in  sequence_lens: T1 ?
in  initial_h: T ?
out Y: T ?
out Y_h: T ?
attr clip: float
attr activation_beta: floats
attr output_sequence: int = 0
attr activation_alpha: floats
attr hidden_size: int
attr direction: string = "forward"
attr activations: strings = ["Tanh", "Tanh"]
type T: @float
type T1: int32)",
     infer, eval},
    {7, R"(
in  X: T
in  W: T
in  R: T
in  B: T ?
in  sequence_lens: T1 ?
in  initial_h: T ?
out Y: T ?
out Y_h: T ?
attr clip: float
attr activation_beta: floats
attr activation_alpha: floats
attr hidden_size: int
attr direction: string = "forward"
attr activations: strings = ["Tanh", "Tanh"]
type T: @float
type T1: int32)",
     infer, eval},
    {14, R"(
in  X: T
in  W: T
in  R: T
in  B: T ?
in  sequence_lens: T1 ?
in  initial_h: T ?
out Y: T ?
out Y_h: T ?
attr clip: float
attr activation_beta: floats
attr activation_alpha: floats
attr hidden_size: int
attr layout: int = 0
attr direction: string = "forward"
attr activations: strings = ["Tanh", "Tanh"]
type T: @float
type T1: int32)",
     infer, eval},
    {22, R"(
in  X: T
in  W: T
in  R: T
in  B: T ?
in  sequence_lens: T1 ?
in  initial_h: T ?
out Y: T ?
out Y_h: T ?
attr clip: float
attr activation_beta: floats
attr activation_alpha: floats
attr hidden_size: int
attr layout: int = 0
attr direction: string = "forward"
attr activations: strings = ["Tanh", "Tanh"]
type T: @float_ir4
type T1: int32)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "RNN",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kCustom, .bound = bound, .perturb = perturb},
    .facts =
        {
            .recurrent = kernels::RecurrentKind::kRnn,
            .compares = {{{.reach = ComparisonFact::Reach::kAll}}},
            .multiply_accumulates = recurrent_macs,
        },
};

}  // namespace assay::op_onnx_RNN
