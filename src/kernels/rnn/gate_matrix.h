// Weights of recurrent layers, packed so that all gates of a few hidden units are adjacent, and products
// of rows with them.
#pragma once

#include <cstdint>

#include "kernels/rnn/gates_together.h"

namespace assay::kernels {

/// Hidden units of a block: the lanes of this processor's vectors.
int64_t gate_lanes() noexcept;

/// A matrix of `gates` * `units` rows (all units of a gate together) and k columns. Packed, its units are in
/// blocks of `lanes`, the last one padded with zeros; in a block, for each column, one vector per gate,
/// those of all columns for together() gates first.
struct GateMatrix {
  int64_t gates = 0, units = 0, k = 0;
  int64_t lanes = gate_lanes();

  int64_t blocks() const { return (units + lanes - 1) / lanes; }
  /// Units with padding.
  int64_t padded() const { return blocks() * lanes; }
  /// Gates whose vectors are stored side by side.
  int64_t together() const { return gates_together(gates, lanes); }
  int64_t block_numbers() const { return k * gates * lanes; }
  /// Elements of the packed matrix.
  int64_t numbers() const { return blocks() * block_numbers(); }
  /// Numbers of a row of sums: for each block, one vector per gate.
  int64_t row_numbers() const { return gates * padded(); }
};

/// Packs rows of k numbers. Uses threads.
void pack_gates(const GateMatrix& matrix, const float* weights, float* packed) noexcept;
/// Packs a number for each gate and unit (`gates` * `units` of them) into a row of sums; those of the first
/// `more_gates` gates are added to what `more` has for them.
void pack_gate_row(const GateMatrix& matrix, const float* numbers, const float* more, int64_t more_gates,
                   float* row) noexcept;

/// sums[r, :] = bias + x[r, :] * transposed matrix, for rows of k and row_numbers() numbers, one after the
/// other. `bias` is a row of sums, or null. Uses threads.
void gate_products(const GateMatrix& matrix, const float* packed, const float* bias, const float* x,
                   int64_t rows, float* sums) noexcept;

}  // namespace assay::kernels
