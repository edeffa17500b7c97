// Steps of the tactic quantized_lstm: their parameters, and the kernel that runs them.
#pragma once

#include <cmath>
#include <limits>

#include "engine/runtime/arena.h"
#include "engine/runtime/kernel.h"
#include "engine/runtime/step_reader.h"
#include "engine/tactics/recurrent/recurrent_functions_kernel.h"

namespace assay::engine::tactic_quantized_lstm {

using kernels::GateMatrix;
using kernels::RecurrentDirection;
using kernels::RecurrentKind;
using kernels::RecurrentLayer;

enum Constant : size_t {
  kWeights,
  kRecurrent,
  kWeightScales,
  kRecurrentScales,
  kBias,
  kPeepholes,
  kConstants
};

/// The problem of a step, from its parameters.
struct Sizes {
  int64_t steps = 0, batch = 0, inputs = 0, hidden = 0, directions = 0;
  bool backward = false, coupled = false, has_bias = false, has_peepholes = false;
  float clip = std::numeric_limits<float>::infinity();
  int64_t lanes = 0;  ///< of the vectors that the weights are packed for

  void fields(FieldVisitor& visit) {
    visit("sizes", {&steps, &batch, &inputs, &hidden, &directions}, {1, kMaxOfWindow});
    visit("lanes", lanes, {1, 64});
    visit("flags", {&backward, &coupled, &has_bias, &has_peepholes});
    visit("clip", clip);
  }

  RecurrentLayer layer() const {
    return {.kind = RecurrentKind::kLstm,
            .steps = steps,
            .batch = batch,
            .hidden = hidden,
            .step_rows = batch,
            .batch_rows = 1,
            .output_step = directions * hidden * batch,
            .output_batch = hidden,
            .state_batch = hidden,
            .clip = clip,
            .coupled = coupled,
            .has_quantized = true};
  }
  /// The matrix of W or of R.
  GateMatrix matrix(size_t which) const { return layer().matrix(which == 0 ? inputs : hidden); }
  kernels::Int8Weights weights(size_t which) const {
    const GateMatrix m = matrix(which);
    return {m.row_numbers(), m.k};
  }
  int64_t gates() const { return 4 * hidden; }
  /// Elements of a constant: bytes of quantized ones, float32 of the others; 0: it has none.
  int64_t elements(size_t constant) const {
    const GateMatrix m = matrix(0);
    switch (constant) {
      case kWeights:
      case kRecurrent:
        return weights(constant).bytes();
      case kBias:
        return has_bias ? m.row_numbers() : 0;
      case kPeepholes:
        return has_peepholes ? 3 * m.padded() : 0;
      default:
        return m.row_numbers();
    }
  }
  static int64_t aligned(int64_t bytes) { return static_cast<int64_t>(align_up(static_cast<size_t>(bytes))); }
  int64_t sums_bytes() const {
    return aligned(steps * batch * matrix(0).row_numbers() * int64_t{sizeof(float)});
  }
  int64_t scales_bytes() const { return aligned(matrix(0).row_numbers() * int64_t{sizeof(float)}); }
  int64_t quantized_bytes() const {
    return aligned(kernels::QuantizedRows::scratch_bytes(steps * batch, inputs));
  }
  int64_t scratch_bytes() const {
    return quantized_bytes() + scales_bytes() +
           directions * (sums_bytes() + aligned(layer().scratch_bytes()));
  }
};

/// Throws Error (kInvalidModel) for a step that the tactic cannot have proposed.
std::unique_ptr<Kernel> create(const Plan& plan, const Step& step);

}  // namespace assay::engine::tactic_quantized_lstm
