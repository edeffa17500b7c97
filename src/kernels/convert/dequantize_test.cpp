#include "kernels/convert/dequantize.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "tensor/packed_bits.h"

namespace assay::kernels::dequantize_test {
namespace {

/// Elements of any width in memory.
struct Codes {
  Codes(std::mt19937& random, int64_t count, int bits)
      : list(static_cast<size_t>(count)), stream(static_cast<size_t>((count * bits + 7) / 8)) {
    for (uint8_t& c : list) c = static_cast<uint8_t>(random() & ((1U << bits) - 1));
    if (bits == 8)
      stream = list;
    else
      pack_bits(list, bits, stream.data());
  }
  std::vector<uint8_t> list, stream;
};

int64_t scale_of(const QuantizedBlocks& q, int64_t o, int64_t i, int64_t j) {
  if (q.grid == ScaleGrid::kWhole) return 0;
  if (q.grid == ScaleGrid::kAxis) return i;
  return (o * q.blocks() + i / q.block) * q.inner + j;
}

void check(std::mt19937& random, const QuantizedBlocks& q, bool has_zeros) {
  LevelNumbers numbers;
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i) * 0.5F - 3;
  const Codes x(random, q.elements(), q.bits), zeros(random, q.scales(), q.bits);
  std::vector<float> scales(static_cast<size_t>(q.scales())), y(static_cast<size_t>(q.elements() + 1), 99);
  for (float& s : scales) s = 0.25F * static_cast<float>(1 + random() % 9);
  dequantize(q, numbers, x.stream.data(), scales.data(), has_zeros ? zeros.stream.data() : nullptr, y.data());
  EXPECT_EQ(y.back(), 99);
  for (int64_t at = 0; at < q.elements(); ++at) {
    const int64_t j = at % q.inner, i = at / q.inner % q.extent, o = at / q.inner / q.extent;
    const auto s = static_cast<size_t>(scale_of(q, o, i, j));
    const float zero = has_zeros ? numbers[zeros.list[s]] : 0;
    ASSERT_EQ(y[static_cast<size_t>(at)], (numbers[x.list[static_cast<size_t>(at)]] - zero) * scales[s])
        << q.bits << " bits, " << q.outer << "x" << q.extent << "x" << q.inner << " at " << at;
  }
}

TEST(Dequantize, EveryWidthAndGrid) {
  std::mt19937 random(7);
  for (const int bits : {2, 4, 6, 8})
    for (const bool has_zeros : {false, true})
      for (const int64_t inner : {1, 3, 700}) {
        check(random, {3, 50, inner, ScaleGrid::kWhole, 1, bits}, has_zeros);
        check(random, {3, 50, inner, ScaleGrid::kAxis, 1, bits}, has_zeros);
        for (const int64_t block : {1, 8, 25, 64})
          check(random, {3, 50, inner, ScaleGrid::kBlocks, block, bits}, has_zeros);
      }
}

}  // namespace
}  // namespace assay::kernels::dequantize_test
