#include "kernels/convert/convert.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "tensor/half.h"

namespace assay::kernels::convert_test {
namespace {

TEST(Convert, EveryNarrowNumberIsWidenedExactly) {
  for (const DType type : {DType::kFloat16, DType::kBFloat16}) {
    std::vector<uint16_t> bits(1 << 16);
    for (size_t i = 0; i < bits.size(); ++i) bits[i] = static_cast<uint16_t>(i);
    std::vector<float> wide(bits.size());
    widen_row(type, bits.data(), wide.data(), bits.size());
    for (size_t i = 0; i < bits.size(); ++i) {
      const float expected = type == DType::kFloat16 ? half_to_float(bits[i]) : bfloat16_to_float(bits[i]);
      if (std::isnan(expected))
        ASSERT_TRUE(std::isnan(wide[i])) << i;
      else
        ASSERT_EQ(wide[i], expected) << i;
    }
  }
}

TEST(Convert, RoundsToTheNearestAndHalvesToEven) {
  // All upper halves of float32, with lower halves below, at and above the middle.
  for (const DType type : {DType::kFloat16, DType::kBFloat16}) {
    std::vector<float> wide;
    for (uint32_t high = 0; high < 1 << 16; ++high)
      for (const uint32_t low : {0U, 1U, 0x0fffU, 0x1000U, 0x1001U, 0x7fffU, 0x8000U, 0x8001U, 0xffffU}) {
        const uint32_t pattern = high << 16 | low;
        float x;
        std::memcpy(&x, &pattern, sizeof x);
        wide.push_back(x);
      }
    std::vector<uint16_t> bits(wide.size());
    narrow_row(type, wide.data(), bits.data(), wide.size());
    for (size_t i = 0; i < wide.size(); ++i) {
      if (std::isnan(wide[i])) {
        ASSERT_TRUE(
            std::isnan(type == DType::kFloat16 ? half_to_float(bits[i]) : bfloat16_to_float(bits[i])));
        continue;
      }
      const uint16_t expected = type == DType::kFloat16 ? float_to_half(wide[i]) : float_to_bfloat16(wide[i]);
      ASSERT_EQ(bits[i], expected) << wide[i];
    }
  }
}

TEST(Convert, IntegersSaturateAndRoundHalvesToEven) {
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> x = {0.5F,    1.5F, -0.5F, -1.5F,  127.4F, 127.5F, 254.5F,       300,
                                -128.5F, -200, 1e20F, -1e20F, inf,    -inf,   std::nanf("")};
  std::vector<uint8_t> u(x.size());
  std::vector<int8_t> s(x.size());
  narrow_row(DType::kUInt8, x.data(), u.data(), x.size());
  narrow_row(DType::kInt8, x.data(), s.data(), x.size());
  EXPECT_EQ(u, (std::vector<uint8_t>{0, 2, 0, 0, 127, 128, 254, 255, 0, 0, 255, 0, 255, 0, 0}));
  EXPECT_EQ(s, (std::vector<int8_t>{0, 2, 0, -2, 127, 127, 127, 127, -128, -128, 127, -128, 127, -128, 0}));
  std::vector<float> back(x.size());
  widen_row(DType::kInt8, s.data(), back.data(), s.size());
  for (size_t i = 0; i < s.size(); ++i) EXPECT_EQ(back[i], s[i]);
  widen_row(DType::kUInt8, u.data(), back.data(), u.size());
  for (size_t i = 0; i < u.size(); ++i) EXPECT_EQ(back[i], u[i]);
}

TEST(Convert, WritesNothingBeyondTheRow) {
  for (size_t n = 0; n < 40; ++n) {
    std::vector<float> x(n + 1, 3), y(n + 1, 7);
    std::vector<uint16_t> h(n + 1, 99);
    narrow_row(DType::kBFloat16, x.data(), h.data(), n);
    EXPECT_EQ(h[n], 99);
    widen_row(DType::kBFloat16, h.data(), y.data(), n);
    EXPECT_EQ(y[n], 7);
    for (size_t i = 0; i < n; ++i) EXPECT_EQ(y[i], 3);
  }
}

}  // namespace
}  // namespace assay::kernels::convert_test
