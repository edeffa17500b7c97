#include "kernels/pointwise/quantized_add.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace assay::kernels::quantized_add_test {
namespace {

enum class Between : uint8_t { kNothing, kRelu, kClip };

struct QuantizedProblem {
  float a_scale, b_scale, scale;
  Between between = Between::kNothing;
  bool a_signed = false, b_signed = false, is_signed = false;
};

PointwiseProgram sum_program(const QuantizedProblem& p) {
  PointwiseProgram program(2);
  const int a = program.append(PointwiseOp::kDequantize, {0, -1, -1}, p.a_scale, p.a_signed ? -3 : 120);
  const int b = program.append(PointwiseOp::kDequantize, {1, -1, -1}, p.b_scale, p.b_signed ? 7 : 9);
  int y = program.append(PointwiseOp::kAdd, {b, a, -1});
  if (p.between == Between::kRelu) y = program.append(PointwiseOp::kRelu, {y, -1, -1});
  if (p.between == Between::kClip) y = program.append(PointwiseOp::kClip, {y, -1, -1}, -0.7F, 6);
  program.add_result(program.append(p.is_signed ? PointwiseOp::kQuantizeInt8 : PointwiseOp::kQuantizeUint8,
                                    {y, -1, -1}, p.scale, 5));
  return program;
}

std::vector<PointwiseOperand> dense_operands(const QuantizedProblem& p) {
  const auto type = [](bool is_signed) { return is_signed ? DType::kInt8 : DType::kUInt8; };
  return {{type(p.a_signed), {1}}, {type(p.b_signed), {1}}};
}

std::vector<uint8_t> summed_one_by_one(const QuantizedProblem& p, const std::vector<uint8_t>& a,
                                       const std::vector<uint8_t>& b) {
  const auto real = [](uint8_t bits, bool is_signed, float scale, float zero) {
    const volatile float y =
        (static_cast<float>(is_signed ? static_cast<int8_t>(bits) : bits) - zero) * scale;
    return y;
  };
  std::vector<uint8_t> q(a.size());
  for (size_t i = 0; i < a.size(); ++i) {
    const float x = real(a[i], p.a_signed, p.a_scale, p.a_signed ? -3 : 120),
                y = real(b[i], p.b_signed, p.b_scale, p.b_signed ? 7 : 9);
    float sum = x + y;
    if (p.between == Between::kRelu) sum = std::max(sum, 0.0F);
    if (p.between == Between::kClip) sum = std::clamp(sum, -0.7F, 6.0F);
    const float level = std::nearbyint(sum / p.scale) + 5;
    q[i] = static_cast<uint8_t>(
        static_cast<int>(p.is_signed ? std::clamp(level, -128.0F, 127.0F) : std::clamp(level, 0.0F, 255.0F)));
  }
  return q;
}

TEST(QuantizedAdd, AllPairsOfLevelsAreExact) {
  std::vector<uint8_t> a, b;
  for (int i = 0; i < 65536; ++i)
    a.push_back(static_cast<uint8_t>(i)), b.push_back(static_cast<uint8_t>(i >> 8));
  // A row that ends inside a vector.
  a.pop_back(), b.pop_back();
  for (const auto& [a_scale, b_scale, scale] : {std::array{0.5F, 0.25F, 0.5F},
                                                {0.0173F, 0.0231F, 0.0297F},
                                                {0.1F, 0.05F, 0.1F},
                                                {0.03F, 0.04F, 0.011F}})
    for (const Between between : {Between::kNothing, Between::kRelu, Between::kClip})
      for (int signs = 0; signs < 8; ++signs) {
        const QuantizedProblem p{a_scale,          b_scale,          scale,           between,
                                 (signs & 1) != 0, (signs & 2) != 0, (signs & 4) != 0};
        PointwiseProgram program = sum_program(p);
        program.allocate_registers();
        const DType result = p.is_signed ? DType::kInt8 : DType::kUInt8;
        ASSERT_TRUE(QuantizedAdd::of(program, dense_operands(p), result));
        std::vector<uint8_t> q(a.size() + 1, 99);
        const PointwiseLoop loop(sum_program(p), Shape{static_cast<int64_t>(a.size())}, dense_operands(p),
                                 {result});
        loop.run(std::array<const void*, 2>{a.data(), b.data()}, std::array<void*, 1>{q.data()});
        EXPECT_EQ(q.back(), 99);
        q.pop_back();
        ASSERT_EQ(q, summed_one_by_one(p, a, b))
            << a_scale << " " << static_cast<int>(between) << " " << signs;
      }
}

TEST(QuantizedAdd, OtherProgramsAreLeftAlone) {
  const QuantizedProblem usual{.a_scale = 0.5F, .b_scale = 0.25F, .scale = 0.5F};
  const auto known = [](const QuantizedProblem& p, DType result) {
    return QuantizedAdd::of(sum_program(p), dense_operands(p), result).has_value();
  };
  EXPECT_TRUE(known(usual, DType::kUInt8));
  EXPECT_FALSE(known(usual, DType::kInt8)) << "the result is of another type than its levels";
  QuantizedProblem p = usual;
  p.scale = 0.001F;
  EXPECT_FALSE(known(p, DType::kUInt8)) << "levels too large for one product and sum";
  p.scale = 1e-42F;
  EXPECT_FALSE(known(p, DType::kUInt8));
  PointwiseProgram product(2);
  const int a = product.append(PointwiseOp::kDequantize, {0, -1, -1}, 1, 0),
            b = product.append(PointwiseOp::kDequantize, {1, -1, -1}, 1, 0);
  product.add_result(product.append(PointwiseOp::kQuantizeUint8,
                                    {product.append(PointwiseOp::kMul, {a, b, -1}), -1, -1}, 1, 0));
  EXPECT_FALSE(QuantizedAdd::of(product, dense_operands(usual), DType::kUInt8));
}

}  // namespace
}  // namespace assay::kernels::quantized_add_test
