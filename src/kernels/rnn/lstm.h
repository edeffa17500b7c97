// One direction of an LSTM layer, step by step.
#pragma once

#include <cstdint>

namespace assay::kernels {

/// What one direction computes. Gates stand in ONNX's order: input, output, forget, cell.
struct LstmDirection {
  int64_t steps = 0, batch = 0, hidden = 0;
  /// [steps, batch, 4 * hidden]: the products with the input weights, biases added. Overwritten.
  float* inputs = nullptr;
  const float* recurrent = nullptr;       ///< [4 * hidden, hidden]
  const float* initial_hidden = nullptr;  ///< [batch, hidden]; null: zeros
  float* cell = nullptr;                  ///< [batch, hidden]: the initial state, and at the end the last one
  float* output = nullptr;                ///< step t, row n at output + (t * output_step + n * hidden)
  int64_t output_step = 0;
  bool backward = false;  ///< from the last step to the first
};

/// Runs all directions. Two or more directions run side by side, one thread each, and a single one shares its
/// hidden units out to the threads at every step.
void lstm(const LstmDirection* directions, int64_t count) noexcept;

}  // namespace assay::kernels
