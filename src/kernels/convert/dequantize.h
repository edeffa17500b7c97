// DequantizeLinear of elements of at most 8 bits, by a table of the numbers that they stand for.
#pragma once

#include <array>
#include <cstdint>

namespace assay::kernels {

/// Which scale (and zero point, of the same shape) belongs to which element of [outer, extent, inner].
enum class ScaleGrid : uint8_t {
  kWhole,   ///< one for all
  kAxis,    ///< [extent]
  kBlocks,  ///< [outer, blocks of `block` along extent, inner]
};

struct QuantizedBlocks {
  int64_t outer = 1, extent = 1, inner = 1;
  ScaleGrid grid = ScaleGrid::kWhole;
  int64_t block = 1;
  int bits = 8;  ///< of an element: 2, 4, 6 or 8, in a stream of bits, low ones first

  int64_t elements() const { return outer * extent * inner; }
  int64_t blocks() const { return extent / block + (extent % block != 0 ? 1 : 0); }
  int64_t scales() const {
    return grid == ScaleGrid::kWhole ? 1 : grid == ScaleGrid::kAxis ? extent : outer * blocks() * inner;
  }
};

/// The numbers that elements stand for, by their bits.
using LevelNumbers = std::array<float, 256>;

/// y = (numbers[element] - numbers[zero]) * scale; zeros may be null.
void dequantize(const QuantizedBlocks& q, const LevelNumbers& numbers, const uint8_t* elements,
                const float* scales, const uint8_t* zeros, float* y);

}  // namespace assay::kernels
