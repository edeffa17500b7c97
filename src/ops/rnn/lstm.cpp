// LSTM: lstm_cell.h says what it computes.
#include "kernels/rnn/recurrence.h"
#include "ops/multiply_accumulates.h"
#include "ops/op_list.h"
#include "ops/rnn/lstm_cell.h"

namespace assay::op_onnx_LSTM {
namespace {

void infer(InferContext& c) { infer_recurrent(c, 4, 2); }

void eval(EvalContext& c) {
  const Recurrence r = read_lstm(c);
  set_recurrent_outputs(c, r, run_lstm(c, r, Exact()));
}

/// The recurrence with every number's error propagated (arithmetic.h).
Tensor bound(EvalContext& c, double u, size_t i, const Tensor&) {
  const Recurrence r = read_lstm(c);
  return recurrent_errors(r, run_lstm(c, r, Tracked(u, r.gate_terms())), i);
}

void perturb(EvalContext& c, double u, uint64_t key) {
  const Recurrence r = read_lstm(c);
  set_recurrent_outputs(c, r, run_lstm(c, r, Noisy(u, key)));
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  X: T
in  W: T
in  R: T
in  B: T ?
in  sequence_lens: T1 ?
in  initial_h: T ?
in  initial_c: T ?
in  P: T ?
out Y: T ?
out Y_h: T ?
out Y_c: T ?
attr clip: float
attr activation_beta: floats
attr output_sequence: int = 0
attr activation_alpha: floats
attr hidden_size: int
attr direction: string = "forward"
attr input_forget: int = 0
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
in  initial_c: T ?
in  P: T ?
out Y: T ?
out Y_h: T ?
out Y_c: T ?
attr clip: float
attr activation_beta: floats
attr activation_alpha: floats
attr hidden_size: int
attr direction: string = "forward"
attr input_forget: int = 0
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
in  initial_c: T ?
in  P: T ?
out Y: T ?
out Y_h: T ?
out Y_c: T ?
attr clip: float
attr activation_beta: floats
attr activation_alpha: floats
attr hidden_size: int
attr direction: string = "forward"
attr input_forget: int = 0
attr layout: int = 0
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
in  initial_c: T ?
in  P: T ?
out Y: T ?
out Y_h: T ?
out Y_c: T ?
attr clip: float
attr activation_beta: floats
attr activation_alpha: floats
attr hidden_size: int
attr direction: string = "forward"
attr input_forget: int = 0
attr layout: int = 0
attr activations: strings
type T: @float_ir4
type T1: int32)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "LSTM",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kCustom, .bound = bound, .perturb = perturb},
    .facts =
        {
            .recurrent = kernels::RecurrentKind::kLstm,
            .compares = {{{.reach = ComparisonFact::Reach::kAll}}},
            .multiply_accumulates = recurrent_macs,
        },
};

}  // namespace assay::op_onnx_LSTM
