// What a recurrent layer is: its kind and sizes, and of each direction the weights, states and results.
#pragma once

#include <cstdint>
#include <limits>

#include "kernels/int8/int8_operands.h"
#include "kernels/rnn/gate_matrix.h"

namespace assay::kernels {

enum class RecurrentKind : uint8_t { kRnn, kGru, kLstm };

/// The activation functions of ONNX's recurrent operators.
enum class RecurrentFunction : uint8_t {
  kAffine,
  kElu,
  kHardSigmoid,
  kLeakyRelu,
  kRelu,
  kScaledTanh,
  kSigmoid,
  kSoftplus,
  kSoftsign,
  kTanh,
  kThresholdedRelu
};
inline constexpr int64_t kRecurrentFunctions = 11;

struct RecurrentActivation {
  RecurrentFunction function = RecurrentFunction::kTanh;
  float alpha = 0, beta = 0;
};

/// The part that all directions of a layer share. Distances are numbers of elements, or of rows where that is
/// said.
struct RecurrentLayer {
  RecurrentKind kind = RecurrentKind::kRnn;
  int64_t steps = 0, batch = 0, hidden = 0;
  int64_t step_rows = 0, batch_rows = 0;      ///< where step t of element b is among the rows of `inputs`
  int64_t output_step = 0, output_batch = 0;  ///< the same in `output`
  int64_t state_batch = 0;                    ///< from one element's states to the next's
  float clip = std::numeric_limits<float>::infinity();  ///< of the gates' sums
  bool linear_before_reset = false;  ///< GRU: the reset gate acts on the candidate's product
  bool coupled = false;              ///< LSTM: the forget gate is 1 - the input gate
  const int32_t* lengths = nullptr;  ///< steps of each element, within [0, steps]; null: all
  bool has_quantized = false;        ///< the recurrent weights are QuantizedGates, and `lengths` is null

  int64_t gates() const { return kind == RecurrentKind::kRnn ? 1 : kind == RecurrentKind::kGru ? 3 : 4; }
  /// Of the input products, and of the recurrent weights unless those are split.
  GateMatrix matrix(int64_t k) const { return {gates(), hidden, k}; }
  /// The recurrent weights of update and reset gate, and of the candidate, are apart.
  bool is_split() const { return kind == RecurrentKind::kGru && !linear_before_reset; }
  /// Numbers of packed recurrent weights of a direction.
  int64_t recurrent_numbers() const;
  /// Bytes of scratch memory of a direction.
  int64_t scratch_bytes() const;
};

/// Integer weights of gates. Their left operand is first quantized to 8 bits by its own range.
struct QuantizedGates {
  Int8Weights weights;            ///< k rows; columns in the order of a row of sums
  const void* packed = nullptr;   ///< as pack_quantized_gates() makes them
  const float* scales = nullptr;  ///< of each column
};

/// One direction. Gates are in ONNX's order: i, o, f, c of LSTM, z, r, h of GRU.
struct RecurrentDirection {
  /// The products with the input weights, as gate_products() gives them, biases added: both, except for the
  /// candidate of a GRU with linear_before_reset, which has only the input's.
  const float* inputs = nullptr;
  const float* recurrent = nullptr;  ///< as pack_recurrent() makes them; not with `levels`
  QuantizedGates levels;             ///< the recurrent weights, where the layer is quantized
  const float* hidden_bias =
      nullptr;  ///< of the candidate of a GRU with linear_before_reset, padded; null: none
  const float* peepholes = nullptr;  ///< [3, padded units], of i, o, f; null: none
  RecurrentActivation activations[3];
  const float* initial_hidden = nullptr;  ///< null: zeros
  const float* initial_cell = nullptr;    ///< null: zeros
  float* output = nullptr;       ///< of every step; null: not wanted. Steps beyond an element's are 0.
  float* last_hidden = nullptr;  ///< null: not wanted
  float* last_cell = nullptr;
  bool backward = false;  ///< from an element's last step to its first
  void* scratch = nullptr;
};

}  // namespace assay::kernels
