// Random weights of few bits, and what they are.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "kernels/nbits/nbits_product.h"

namespace assay::kernels {

struct RandomNbitsWeights {
  RandomNbitsWeights(std::mt19937& random, int64_t n, int64_t k, int64_t block, int bits, bool has_zeros)
      : w{n, k, block, bits, nullptr, nullptr, nullptr} {
    levels.resize(static_cast<size_t>(n * w.blocks() * w.block_bytes()));
    scales.resize(static_cast<size_t>(n * w.blocks()));
    zeros.resize(static_cast<size_t>(n * w.zero_bytes()));
    for (uint8_t& b : levels) b = static_cast<uint8_t>(random());
    for (uint8_t& b : zeros) b = static_cast<uint8_t>(random());
    for (float& s : scales) s = 0.01F + static_cast<float>(random() % 100) / 1000;
    w.levels = levels.data(), w.scales = scales.data();
    if (has_zeros) w.zero_points = zeros.data();
  }
  /// The i-th of the quantized values that are packed from `row` on.
  int level(const uint8_t* row, int64_t i) const {
    return row[i * w.bits / 8] >> (i * w.bits % 8) & ((1 << w.bits) - 1);
  }
  /// In column `column` of the product, behind the scale and the zero point.
  double at(int64_t column, int64_t k) const {
    const int64_t b = k / w.block;
    const int zero =
        w.zero_points == nullptr ? 1 << (w.bits - 1) : level(zeros.data() + column * w.zero_bytes(), b);
    const int stored = level(levels.data() + (column * w.blocks() + b) * w.block_bytes(), k % w.block);
    return (stored - zero) * double{scales[static_cast<size_t>(column * w.blocks() + b)]};
  }

  NbitsWeights w;
  std::vector<uint8_t> levels, zeros;
  std::vector<float> scales;
};

}  // namespace assay::kernels
