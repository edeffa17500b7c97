// The memory of rows of the left operand that are rounded to 8 bits.
#pragma once

#include <cstdint>

#include "kernels/nbits/nbits_product.h"

namespace assay::kernels {

/// A vector of weights has `streams` quantized values in each byte, those of a stream at the
/// same bits. For every vector of a row of weights a rounded row has that many vectors of bytes, one for each
/// stream, and the scale of each four of its bytes.
struct RoundedRows {
  int64_t vector_bytes;  ///< of a vector
  int64_t streams, row_bytes, chunks, blocks;

  static constexpr int64_t kWidest = 64, kFour = 4;

  RoundedRows(const NbitsWeights& w, int64_t vector)
      : vector_bytes(vector),
        streams(8 / w.bits),
        row_bytes(w.blocks() * w.block_bytes()),
        chunks((row_bytes + vector - 1) / vector),
        blocks((w.blocks() + kWidest / kFour - 1) / (kWidest / kFour) * (kWidest / kFour)) {}

  int64_t level_bytes() const { return chunks * streams * vector_bytes; }
  int64_t scale_bytes() const { return chunks * vector_bytes; }
  int64_t term_bytes() const { return blocks * static_cast<int64_t>(sizeof(float)); }
  int64_t all_bytes() const { return level_bytes() + scale_bytes() + term_bytes(); }

  int8_t* levels(void* rows, int64_t r) const { return static_cast<int8_t*>(rows) + r * all_bytes(); }
  float* scales(void* rows, int64_t r) const {
    return reinterpret_cast<float*>(levels(rows, r) + level_bytes());
  }
  /// For each block its scale times the sum of its rounded numbers.
  float* terms(void* rows, int64_t r) const {
    return reinterpret_cast<float*>(levels(rows, r) + level_bytes() + scale_bytes());
  }

  /// Of a row, whatever the vectors are.
  static int64_t bytes(const NbitsWeights& w) { return RoundedRows(w, kWidest).all_bytes(); }
};

}  // namespace assay::kernels
