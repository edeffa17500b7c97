// Recurrent layers, step by step: RNN, GRU and LSTM as ONNX defines them.
#pragma once

#include <cstdint>

#include "kernels/int8/int8_operands.h"
#include "kernels/rnn/gate_matrix.h"
#include "kernels/rnn/recurrent_layer.h"

namespace assay::kernels {

/// Packs [gates * hidden, hidden] numbers.
void pack_recurrent(const RecurrentLayer& layer, const float* weights, float* packed) noexcept;

/// Packs biases, [2, gates * hidden], the input's first: a row of sums for gate_products(), and where a GRU
/// has linear_before_reset the rest into `hidden_bias`.
void pack_recurrent_bias(const RecurrentLayer& layer, const float* bias, float* row,
                         float* hidden_bias) noexcept;

/// Packs [3, hidden] numbers.
void pack_peepholes(const RecurrentLayer& layer, const float* numbers, float* packed) noexcept;

/// Whether rows of sums of this matrix are whole panels of Int8Weights, as level products need it.
bool takes_quantized(const GateMatrix& matrix) noexcept;

/// Packs quantized values less their zero points, [k, gates * units].
void pack_quantized_gates(const GateMatrix& matrix, const int16_t* levels, void* packed) noexcept;

/// Numbers quantized by the range of all of them, rows of k.
struct QuantizedRows {
  Int8Rows levels = {};  ///< without data: there are none
  float scale = 1;

  /// The rows from `row` on.
  Int8Rows from(int64_t row) const {
    return {levels.data + row * levels.stride, levels.stride, levels.zero_point};
  }

  static int64_t scratch_bytes(int64_t rows, int64_t k);
};
QuantizedRows quantize_rows(const float* x, int64_t rows, int64_t k, void* scratch) noexcept;

/// gate_products() with quantized weights; `column_scales` is scratch memory for row_numbers() numbers.
void quantized_gate_products(const GateMatrix& matrix, const QuantizedGates& levels, const float* bias,
                             const QuantizedRows& x, int64_t rows, float* column_scales,
                             float* sums) noexcept;

/// Runs all directions. As threads are available, directions run in parallel, then elements of the batch or
/// the hidden units of a step are shared out, where there is enough to do.
void run_recurrence(const RecurrentLayer& layer, const RecurrentDirection* directions,
                    int64_t count) noexcept;

}  // namespace assay::kernels
