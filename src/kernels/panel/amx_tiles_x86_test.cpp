#include "kernels/panel/amx_tiles.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "kernels/amx_x86.h"
#include "kernels/convert/convert.h"
#include "kernels/panel/bfloat16_tiles.h"
#include "kernels/panel/panel_product.h"

namespace assay::kernels::amx_tiles_x86_test {
namespace {

std::vector<float> numbers(std::mt19937& random, int64_t count) {
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> v(static_cast<size_t>(count));
  for (float& x : v) x = uniform(random);
  return v;
}

/// Rows of two lengths of memory by panels from the second on, and what lies beside the sums.
void expect_the_product_of_vectors(std::mt19937& random, int64_t rows, int64_t n, int64_t k, bool has_bias) {
  const PanelMatrix m{n, k, DType::kBFloat16};
  const int64_t first = m.panels() > 1 ? 1 : 0, count = m.panels() - first, length = k + k % 2 + 6,
                stride = count * kPanelColumns + 5;
  const std::vector<float> b = numbers(random, n * k), bias = numbers(random, count * kPanelColumns);
  std::vector<char> packed(static_cast<size_t>(m.bytes()));
  pack_panels(m, b.data(), n, 1, packed.data());
  std::vector<float> wide = numbers(random, rows * length);
  if (k % 2 != 0)
    for (int64_t r = 0; r < rows; ++r) wide[static_cast<size_t>(r * length + k)] = 0;
  std::vector<uint16_t> a(wide.size());
  narrow_row(DType::kBFloat16, wide.data(), a.data(), a.size());
  std::vector<float> sums(static_cast<size_t>(rows * stride), 77), expected = sums;
  const float* const start = has_bias ? bias.data() : nullptr;
  multiply_bfloat16_amx(m, packed.data(), first, count, a.data(), length, rows, start, sums.data(), stride);
  multiply_bfloat16_tiles(m, packed.data(), first, count, a.data(), length, rows, start, expected.data(),
                          stride);
  for (size_t i = 0; i < sums.size(); ++i)
    ASSERT_NEAR(sums[i], expected[i], 3e-7 * static_cast<double>(k + 1))
        << rows << "x" << k << " by " << n << " at " << i;
}

TEST(AmxTiles, MultiplyAsVectorsDo) {
  if (!multiplies_bfloat16() || !may_use_amx(AmxNumbers::kBFloat16))
    GTEST_SKIP() << "this processor has no AMX for bfloat16";
  std::mt19937 random(4);
  for (const int64_t rows : {1, 4, 5, 15, 16, 17, 31, 32, 33, 48, 70})
    for (const int64_t n : {16, 40, 48, 70})
      for (const int64_t k : {1, 2, 9, 24, 31, 32, 33, 64, 75, 320})
        for (const bool has_bias : {false, true}) expect_the_product_of_vectors(random, rows, n, k, has_bias);
}

TEST(AmxTiles, InfinitiesAndNanStayInTheirRows) {
  if (!multiplies_bfloat16() || !may_use_amx(AmxNumbers::kBFloat16))
    GTEST_SKIP() << "this processor has no AMX for bfloat16";
  constexpr int64_t kRows = 20, kDepth = 40;
  const PanelMatrix m{32, kDepth, DType::kBFloat16};
  const std::vector<float> b(32 * kDepth, 1);
  std::vector<char> packed(static_cast<size_t>(m.bytes()));
  pack_panels(m, b.data(), 32, 1, packed.data());
  std::vector<float> wide(kRows * kDepth, 1), sums(kRows * 32);
  wide[3 * kDepth + 35] = INFINITY;
  wide[17 * kDepth + 1] = NAN;
  std::vector<uint16_t> a(wide.size());
  narrow_row(DType::kBFloat16, wide.data(), a.data(), a.size());
  multiply_bfloat16_amx(m, packed.data(), 0, 2, a.data(), kDepth, kRows, nullptr, sums.data(), 32);
  for (int64_t r = 0; r < kRows; ++r)
    for (int64_t c = 0; c < 32; ++c) {
      const float sum = sums[static_cast<size_t>(r * 32 + c)];
      if (r == 17)
        EXPECT_TRUE(std::isnan(sum));
      else
        EXPECT_EQ(sum, r == 3 ? INFINITY : kDepth);
    }
}

}  // namespace
}  // namespace assay::kernels::amx_tiles_x86_test
