#include "kernels/int8/requantize.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "kernels/panel/row_epilogue.h"

namespace assay::kernels::requantize_test {
namespace {

/// Sums whose quotients lie at ties, next to them and anywhere, beyond the bounds, too.
struct RequantizeProblem {
  int64_t rows, n, stride;
  std::vector<int32_t> sums;
  std::vector<float> scale, bias;
};

RequantizeProblem requantize_problem(int64_t rows, int64_t n, float largest_bias, std::mt19937& random) {
  RequantizeProblem p{.rows = rows, .n = n, .stride = n + 3, .sums = {}, .scale = {}, .bias = {}};
  p.sums.resize(static_cast<size_t>(rows * p.stride));
  std::uniform_int_distribution<int32_t> some(-60000, 60000);
  std::uniform_real_distribution<float> bias(-largest_bias, largest_bias);
  for (int32_t& s : p.sums) s = some(random) / 8 * 8 + (some(random) > 0 ? 4 : some(random) % 8);
  for (int64_t c = 0; c < n; ++c) {
    // Eighths make ties; others come close to them.
    p.scale.push_back(c % 2 == 0 ? 0.03125F : 0.01F + 0.0001F * static_cast<float>(c));
    p.bias.push_back(c % 2 == 0 ? std::nearbyint(bias(random)) : bias(random));
  }
  return p;
}

TEST(Requantize, IsExactAtTiesBoundsAndLargeBiases) {
  std::mt19937 random(11);
  const float inf = std::numeric_limits<float>::infinity();
  int64_t unfused = 0;
  for (const int64_t n : {1, 15, 16, 24, 64, 96, 131})
    for (const float largest_bias : {0.0F, 20.0F, 1e5F})
      for (const float scale : {0.25F, 0.3F, 1e-41F})
        for (const bool is_signed : {false, true})
          for (const Requantization& r :
               {Requantization{-inf, inf, scale, is_signed ? -5 : 30, is_signed},
                Requantization{0, inf, scale, is_signed ? -128 : 0, is_signed},
                Requantization{-3.7F, 6, scale, is_signed ? 127 : 255, is_signed}}) {
            const RequantizeProblem p = requantize_problem(5, n, largest_bias, random);
            const int64_t pitch = n + 2;
            std::vector<uint8_t> q(static_cast<size_t>(p.rows * pitch), 123);
            const float* const bias = largest_bias == 0 ? nullptr : p.bias.data();
            requantize({p.sums.data(), p.stride, p.rows, n}, {p.scale.data(), bias, r, q.data(), pitch});
            for (int64_t row = 0; row < p.rows; ++row)
              for (int64_t c = 0; c < pitch; ++c) {
                const uint8_t found = q[static_cast<size_t>(row * pitch + c)];
                if (c >= n) {
                  ASSERT_EQ(found, 123) << "beyond the columns";
                  continue;
                }
                const auto sum = static_cast<float>(p.sums[static_cast<size_t>(row * p.stride + c)]);
                const float factor = p.scale[static_cast<size_t>(c)];
                const float addend = bias == nullptr ? 0 : bias[c];
                const volatile float product = sum * factor;
                const auto level = [&](float v) {
                  const float quotient = std::min(std::max(v, r.low), r.high) / r.scale;
                  const double most = is_signed ? 127 : 255, least = is_signed ? -128 : 0;
                  return std::clamp(static_cast<double>(std::nearbyint(quotient)) + r.zero_point, least,
                                    most);
                };
                const double is = is_signed ? static_cast<int8_t>(found) : found;
                const double fused = level(std::fma(sum, factor, addend));
                if (is != fused) ++unfused;
                // Rounded twice where a processor has no fused operation.
                ASSERT_TRUE(is == fused || is == level(product + addend))
                    << is << " for " << sum << " * " << factor << " + " << addend << ", not " << fused;
              }
          }
  if ((hwy::SupportedTargets() & (HWY_AVX2 | HWY_NEON)) != 0) {
    EXPECT_EQ(unfused, 0);
  }
}

float byte_of(uint8_t byte, bool is_signed) {
  return is_signed ? static_cast<float>(static_cast<int8_t>(byte)) : static_cast<float>(byte);
}

/// Compares requantize_function() with the operators one by one.
void expect_function(const SumFunction& function, int64_t rows, int64_t n, bool is_signed, bool has_addend,
                     std::mt19937& random) {
  const bool of_signed = (n + rows) % 2 == 0, has_bias = rows != 4;
  const float infinity = std::numeric_limits<float>::infinity();
  const Requantization r{has_addend ? 0 : -infinity, has_addend ? 20 : infinity, 0.25F, is_signed ? -5 : 30,
                         is_signed};
  RequantizeProblem p = requantize_problem(rows, n, 3, random);
  for (float& scale : p.scale) scale /= 128;  // functions differ from lines near zero
  const int64_t pitch = n + 2;
  std::vector<uint8_t> q(static_cast<size_t>(p.rows * pitch), 123), x(q.size());
  std::uniform_int_distribution<int> bytes(0, 255);
  for (uint8_t& b : x) b = static_cast<uint8_t>(bytes(random));
  const QuantizedAddend addend{x.data(), pitch, of_signed, 0.125F, of_signed ? 3.0F : 120.0F};
  SumFunction applied = function;
  if (has_addend) applied.addend = &addend;
  requantize_function({p.sums.data(), p.stride, p.rows, n},
                      {p.scale.data(), has_bias ? p.bias.data() : nullptr, r, q.data(), pitch}, applied);
  const float least = is_signed ? -128 : 0;
  for (int64_t row = 0; row < p.rows; ++row) {
    for (int64_t c = 0; c < n; ++c) {
      const auto at = static_cast<size_t>(row * pitch + c), column = static_cast<size_t>(c);
      float number = std::fma(static_cast<float>(p.sums[static_cast<size_t>(row * p.stride + c)]),
                              p.scale[column], has_bias ? p.bias[column] : 0.0F);
      row_epilogue({function.a, function.b, function.op}, 1, 1, &number, 1, {}, &number, 1);
      if (has_addend) number += (byte_of(x[at], of_signed) - addend.zero_point) * addend.scale;
      const float steps = std::nearbyint(std::clamp(number, r.low, r.high) / r.scale);
      ASSERT_EQ(byte_of(q[at], is_signed),
                std::clamp(steps + static_cast<float>(r.zero_point), least, least + 255))
          << pointwise_name(function.op) << " " << n << " " << row << " " << c;
    }
    for (int64_t c = n; c < pitch; ++c)
      ASSERT_EQ(q[static_cast<size_t>(row * pitch + c)], 123) << "beyond the columns";
  }
}

/// In a vector and in its last part, in few rows and in many, of both signs.
TEST(RequantizeFunction, IsTheOperatorsOneByOne) {
  std::mt19937 random(12);
  const float infinity = std::numeric_limits<float>::infinity();
  const SumFunction functions[] = {
      {PointwiseOp::kClip, -infinity, infinity},
      {PointwiseOp::kClip, -1, 2},
      {PointwiseOp::kSilu, 0, 0},
      {PointwiseOp::kSigmoid, 0, 0},
      {PointwiseOp::kGelu, 0, 0},
      {PointwiseOp::kGeluTanh, 0, 0},
      {PointwiseOp::kHardSigmoid, 0.2F, 0.5F},
      {PointwiseOp::kHardSwish, 0, 0},
      {PointwiseOp::kLeakyRelu, 0.1F, 0},
  };
  for (const SumFunction& function : functions)
    for (const int64_t n : {1, 15, 16, 40})
      for (const int64_t rows : {1, 4, 11})
        for (const bool is_signed : {false, true})
          for (const bool has_addend : {false, true})
            expect_function(function, rows, n, is_signed, has_addend, random);
}

/// Of columns whose numbers differ by so much that functions are zero, lines or infinite there, and of steps
/// that are as fine as what functions are computed to.
TEST(RequantizeFunction, FarAndFineNumbers) {
  constexpr int64_t kRows = 9, kColumns = 16;
  const float infinity = std::numeric_limits<float>::infinity();
  std::vector<int32_t> sums;
  for (int64_t i = 0; i < kRows * kColumns; ++i)
    sums.push_back(static_cast<int32_t>((i * 2654435761) % 2001 - 1000) * (i % 3 == 0 ? 2000000 : 1));
  for (const float factor : {1e-12F, 1e-9F, 1e-3F, 0.016F, 1.0F, 1e15F, 1e25F, infinity})
    for (const float step : {1e-6F, 1e-4F, 0.016F, 3.0F, 1e10F})
      for (const PointwiseOp op : {PointwiseOp::kSilu, PointwiseOp::kGelu, PointwiseOp::kGeluTanh}) {
        const std::vector<float> scale(kColumns, factor);
        const Requantization r{-infinity, infinity, step, 17, false};
        std::vector<uint8_t> q(sums.size());
        requantize_function({sums.data(), kColumns, kRows, kColumns},
                            {scale.data(), nullptr, r, q.data(), kColumns}, {op, 0, 0});
        for (size_t i = 0; i < sums.size(); ++i) {
          float number = std::fma(static_cast<float>(sums[i]), factor, 0.0F);
          row_epilogue({0, 0, op}, 1, 1, &number, 1, {}, &number, 1);
          // NaN, of zero times infinity, becomes the least number.
          const float steps = std::isnan(number) ? -infinity : std::nearbyint(number / step);
          ASSERT_EQ(q[i], std::clamp(steps + 17, 0.0F, 255.0F))
              << pointwise_name(op) << " " << sums[i] << " " << factor << " " << step;
        }
      }
}

}  // namespace
}  // namespace assay::kernels::requantize_test
