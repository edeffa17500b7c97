// GRU: z, r = f(X W^T + H R^T + b), h = g(X W^T + (r (.) H) R^T + b), H = (1 - z) (.) h + z (.) H; with
// linear_before_reset h = g(X W^T + r (.) (H R^T + Rb) + Wb).
#include "kernels/rnn/recurrence.h"
#include "ops/multiply_accumulates.h"
#include "ops/op_list.h"
#include "ops/rnn/recurrent.h"

namespace assay::op_onnx_GRU {
namespace {

void infer(InferContext& c) { infer_recurrent(c, 3, 1); }

/// One step of the whole batch; gates are `hidden` apart in the order z, r, h.
template <typename A>
class Cell {
 public:
  using Number = typename A::Number;
  Cell(A& arithmetic, const Recurrence& r, bool linear_first)
      : a_(arithmetic), r_(r), linear_first_(linear_first) {}

  void operator()(int64_t direction, const std::vector<const Number*>& active,
                  std::vector<State<Number>>& states) const {
    State<Number>& hidden = states[0];
    const int64_t n = r_.hidden;
    const double* weights = r_.r + direction * 3 * n * n;
    a_.at(step_place(direction, StepPart::kHiddenProduct));
    const State<Number> recurrent = a_.product(hidden, r_.batch, n, weights, 2 * n);
    State<Number> update(hidden.size()), reset(hidden.size()), old = hidden;
    for (int64_t b = 0; b < r_.batch; ++b) {
      const Number* inputs = active[static_cast<size_t>(b)];
      if (inputs == nullptr) continue;
      for_units(a_, n, [&]<typename Own>(Own& own, int64_t first, int64_t last) {
        const Cell<Own> cell(own, r_, linear_first_);
        const Number* sums = recurrent.data() + b * 2 * n;
        const Activation& f = r_.activations[static_cast<size_t>(direction * 2)];
        for (int64_t j = first; j < last; ++j) {
          const auto at = static_cast<size_t>(b * n + j);
          own.at(step_place(direction, StepPart::kGates, b * n + j));
          update[at] = cell.gate(f, inputs[j], sums[j], r_.gate_bias(own, direction, j));
          reset[at] = cell.gate(f, inputs[n + j], sums[n + j], r_.gate_bias(own, direction, n + j));
          if (!linear_first_) old[at] = own.multiply(reset[at], old[at]);
        }
      });
    }
    a_.at(step_place(direction, StepPart::kCandidateProduct));
    const State<Number> candidates = a_.product(old, r_.batch, n, weights + 2 * n * n, n);
    for (int64_t b = 0; b < r_.batch; ++b) {
      const Number* inputs = active[static_cast<size_t>(b)];
      if (inputs == nullptr) continue;
      for_units(a_, n, [&]<typename Own>(Own& own, int64_t first, int64_t last) {
        const Cell<Own> cell(own, r_, linear_first_);
        for (int64_t j = first; j < last; ++j) {
          const auto at = static_cast<size_t>(b * n + j);
          own.at(step_place(direction, StepPart::kCandidate, b * n + j));
          const Number h = cell.candidate(direction, j, inputs[2 * n + j], candidates[at], reset[at]);
          hidden[at] = own.mix(update[at], h, hidden[at]);
        }
      });
    }
  }

 private:
  template <typename>
  friend class Cell;
  Number gate(const Activation& f, Number input, Number recurrent, Number bias) const {
    return a_.apply(f, a_.clip(a_.add(a_.add(input, recurrent), bias), r_.clip));
  }

  Number candidate(int64_t direction, int64_t j, Number input, Number recurrent, Number reset) const {
    const Activation& g = r_.activations[static_cast<size_t>(direction * 2 + 1)];
    const int64_t i = 2 * r_.hidden + j;
    if (!linear_first_) return gate(g, input, recurrent, r_.gate_bias(a_, direction, i));
    const Number own = term(r_.input_bias(direction, i));
    const Number past = a_.multiply(reset, a_.add(recurrent, term(r_.hidden_bias(direction, i))));
    return gate(g, input, a_.term(past, std::fabs(A::value(past))), own);
  }
  Number term(double x) const { return a_.term(a_.given(x), std::fabs(x)); }

  A& a_;
  const Recurrence& r_;
  bool linear_first_;
};

template <typename A>
RecurrentOutputs<typename A::Number> run(const EvalContext& c, const Recurrence& r, A arithmetic) {
  return walk(arithmetic, r, {c.has_input(5) ? c.input(5) : Tensor()},
              Cell<A>(arithmetic, r, c.since() >= 3 && c.attr_int("linear_before_reset") != 0));
}

Recurrence read(const EvalContext& c) { return read_recurrence(c, 3, {"Sigmoid", "Tanh"}); }

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
out Y_h: T
attr clip: float
attr activation_beta: floats
attr output_sequence: int = 0
attr activation_alpha: floats
attr hidden_size: int
attr direction: string = "foward"
attr activations: strings
type T: @float
type T1: int32)",
     infer, eval},
    {3, R"(
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
attr linear_before_reset: int = 0
attr activations: strings
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
attr linear_before_reset: int = 0
attr activations: strings
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
attr linear_before_reset: int = 0
attr activations: strings
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
attr linear_before_reset: int = 0
attr activations: strings
type T: @float_ir4
type T1: int32)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "GRU",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kCustom, .bound = bound, .perturb = perturb},
    .facts =
        {
            .recurrent = kernels::RecurrentKind::kGru,
            .compares = {{{.reach = ComparisonFact::Reach::kAll}}},
            .multiply_accumulates = recurrent_macs,
        },
};

}  // namespace assay::op_onnx_GRU
