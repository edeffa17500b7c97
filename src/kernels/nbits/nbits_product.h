// Products with constant weights of a few bits, which are read as they are stored: reading them bounds a
// decoding step of a language model.
#pragma once

#include <cstdint>

namespace assay::kernels {

/// W [n, k] = (level - zero point) * scale. The quantized values of a row, of 2, 4 or 8 bits, are in blocks
/// along k, low bits of a byte first; the last block may reach beyond k. Blocks have a power of 2 of at least
/// 16 values.
struct NbitsWeights {
  int64_t n, k, block;
  int bits;
  const uint8_t* levels;
  const float* scales;         ///< [n, blocks]
  const uint8_t* zero_points;  ///< quantized, each row of blocks from a whole byte on; null: half the range

  int64_t blocks() const { return k / block + (k % block != 0 ? 1 : 0); }
  int64_t block_bytes() const { return block * bits / 8; }
  int64_t zero_bytes() const { return (blocks() * bits + 7) / 8; }
  /// Elements of a row of the left operand, padded to whole blocks.
  int64_t filled() const { return blocks() * block; }
};

/// Up to this many rows read the weights as they are; for more of them weights become float32, part by part.
inline constexpr int64_t kMaxNbitsRows = 4;

/// Weights are fetched from memory so many tiles of columns before they are multiplied: processors, which
/// read streams ahead on their own, see none where several columns are read together.
inline constexpr int64_t kTilesAhead = 2;

/// Rows of filled() numbers of scratch memory.
int64_t nbits_scratch_rows(int64_t m);

/// y [m, n] = x [m, k] W^T + bias [n]; bias may be null.
void nbits_product(const NbitsWeights& w, const float* x, int64_t m, const float* bias, float* y,
                   float* scratch);

}  // namespace assay::kernels
