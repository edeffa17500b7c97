#include "kernels/panel/bfloat16_rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "kernels/convert/convert.h"

namespace assay::kernels::bfloat16_rows_test {
namespace {

TEST(Bfloat16Rows, AreRoundedAsByConversions) {
  std::mt19937 random(11);
  std::uniform_real_distribution<float> uniform(-1000, 1000);
  std::vector<float> x = {0,
                          -0.0F,
                          1,
                          1.00390625F,
                          1.01171875F,
                          -1.00390625F,
                          INFINITY,
                          -INFINITY,
                          std::numeric_limits<float>::max(),
                          std::numeric_limits<float>::min()};
  while (x.size() < 300) x.push_back(uniform(random));
  for (const size_t count : {0, 1, 2, 15, 16, 17, 31, 33, 64, 100, 300}) {
    std::vector<uint16_t> rounded(x.size() + 1, 7), expected = rounded;
    round_to_bfloat16(x.data(), rounded.data(), count);
    narrow_row(DType::kBFloat16, x.data(), expected.data(), count);
    EXPECT_EQ(rounded, expected) << count;
  }
}

TEST(Bfloat16Rows, KeepNan) {
  const std::vector<float> x(20, NAN);
  std::vector<uint16_t> rounded(20);
  round_to_bfloat16(x.data(), rounded.data(), 20);
  std::vector<float> wide(20);
  widen_row(DType::kBFloat16, rounded.data(), wide.data(), 20);
  for (const float v : wide) EXPECT_TRUE(std::isnan(v));
}

}  // namespace
}  // namespace assay::kernels::bfloat16_rows_test
