// Steps of the tactic recurrent: their parameters, and the kernel that runs them.
#pragma once

#include <algorithm>
#include <optional>

#include "engine/runtime/arena.h"
#include "engine/runtime/kernel.h"
#include "engine/runtime/step_reader.h"
#include "engine/tactics/recurrent/recurrent_functions_kernel.h"
#include "kernels/rnn/recurrence.h"

namespace assay::engine::tactic_recurrent {

using kernels::RecurrentDirection;
using kernels::RecurrentKind;
using kernels::RecurrentLayer;

enum Constant : size_t { kWeights, kRecurrent, kBias, kHiddenBias, kPeepholes, kConstants };

/// The problem of a step, from its parameters.
struct Settings {
  RecurrentKind kind = RecurrentKind::kRnn;
  int64_t steps = 0, batch = 0, inputs = 0, hidden = 0, directions = 0;
  bool by_batch = false, backward = false, linear_before_reset = false, coupled = false;
  bool has_bias = false, has_peepholes = false;
  bool packs = false;    ///< the weights are packed at run time
  bool in_turn = false;  ///< one direction after the other
  float clip = 0;
  int64_t lanes = 0;  ///< of the vectors that the weights are packed for

  void fields(FieldVisitor& visit) {
    visit("kind", kind, RecurrentKind::kLstm);
    visit("sizes", {&steps, &batch, &inputs, &hidden, &directions}, {1, kMaxOfWindow});
    visit("lanes", lanes, {1, 64});
    visit("flags", {&by_batch, &backward, &linear_before_reset, &coupled, &has_bias, &has_peepholes, &packs,
                    &in_turn});
    visit("clip", clip);
  }

  RecurrentLayer layer() const {
    return {.kind = kind,
            .steps = steps,
            .batch = batch,
            .hidden = hidden,
            .step_rows = by_batch ? 1 : batch,
            .batch_rows = by_batch ? steps : 1,
            .output_step = directions * hidden * (by_batch ? 1 : batch),
            .output_batch = hidden * (by_batch ? steps * directions : 1),
            .state_batch = hidden * (by_batch ? directions : 1),
            .clip = clip,
            .linear_before_reset = linear_before_reset,
            .coupled = coupled};
  }
  kernels::GateMatrix weights() const { return layer().matrix(inputs); }
  /// Distances between the outputs and states of two directions.
  int64_t direction_stride() const { return hidden * (by_batch ? 1 : batch); }
  size_t states() const { return kind == RecurrentKind::kLstm ? 2 : 1; }
  bool has_hidden_bias() const { return has_bias && kind == RecurrentKind::kGru && linear_before_reset; }
  /// Numbers of each constant of a direction; 0: it has none.
  int64_t numbers(size_t constant) const {
    switch (constant) {
      case kWeights:
        return weights().numbers();
      case kRecurrent:
        return layer().recurrent_numbers();
      case kBias:
        return has_bias ? weights().row_numbers() : 0;
      case kHiddenBias:
        return has_hidden_bias() ? weights().padded() : 0;
      default:
        return has_peepholes ? 3 * weights().padded() : 0;
    }
  }
  int64_t packed_bytes() const {
    int64_t bytes = 0;
    for (size_t i = 0; i < kConstants; ++i) bytes += aligned(numbers(i));
    return bytes;
  }
  int64_t product_bytes() const { return aligned(steps * batch * weights().row_numbers()); }
  int64_t scratch_bytes() const {
    return (in_turn ? 1 : directions) *
           (product_bytes() + layer().scratch_bytes() + (packs ? packed_bytes() : 0));
  }

 private:
  static int64_t aligned(int64_t numbers) {
    return static_cast<int64_t>(align_up(static_cast<size_t>(numbers) * sizeof(float)));
  }
};

/// Packs ONNX's weights of a direction: W, R, B or P from its beginning.
inline void pack_constant(const Settings& s, size_t constant, const float* from, float* to) {
  switch (constant) {
    case kWeights:
      return kernels::pack_gates(s.weights(), from, to);
    case kRecurrent:
      return kernels::pack_recurrent(s.layer(), from, to);
    case kPeepholes:
      return kernels::pack_peepholes(s.layer(), from, to);
    default:
      break;
  }
}

/// The source of a constant (W, R, B or P), and its size per direction.
inline size_t origin_of(size_t constant) { return constant < kHiddenBias ? constant : constant - 1; }

inline int64_t given_numbers(const Settings& s, size_t given) {
  const int64_t rows = s.layer().gates() * s.hidden;
  const int64_t numbers[] = {rows * s.inputs, rows * s.hidden, 2 * rows, 3 * s.hidden};
  return numbers[given];
}

/// Throws Error (kInvalidModel) for a step that the tactic cannot have proposed.
std::unique_ptr<Kernel> create(const Plan& plan, const Step& step);

}  // namespace assay::engine::tactic_recurrent
