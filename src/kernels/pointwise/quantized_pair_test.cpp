#include "kernels/pointwise/quantized_pair.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "kernels/every_target.h"
#include "kernels/pointwise/pointwise.h"

namespace assay::kernels::quantized_pair_test {
namespace {

enum class Between : uint8_t { kNothing, kRelu, kClip };

struct QuantizedProblem {
  float a_scale, b_scale, scale;
  bool is_product = false;
  Between between = Between::kNothing;
  bool a_signed = false, b_signed = false, is_signed = false;
};

PointwiseProgram pair_program(const QuantizedProblem& p) {
  PointwiseProgram program(2);
  const int a = program.append(PointwiseOp::kDequantize, {0, -1, -1}, p.a_scale, p.a_signed ? -3 : 120);
  const int b = program.append(PointwiseOp::kDequantize, {1, -1, -1}, p.b_scale, p.b_signed ? 7 : 9);
  int y = program.append(p.is_product ? PointwiseOp::kMul : PointwiseOp::kAdd, {b, a, -1});
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

std::vector<uint8_t> paired_one_by_one(const QuantizedProblem& p, const std::vector<uint8_t>& a,
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
    float pair = p.is_product ? x * y : x + y;
    if (p.between == Between::kRelu) pair = std::max(pair, 0.0F);
    if (p.between == Between::kClip) pair = std::clamp(pair, -0.7F, 6.0F);
    const float level = std::nearbyint(pair / p.scale) + 5;
    q[i] = static_cast<uint8_t>(
        static_cast<int>(p.is_signed ? std::clamp(level, -128.0F, 127.0F) : std::clamp(level, 0.0F, 255.0F)));
  }
  return q;
}

/// Of scales, some with many ties; of what may be between; of the types of both operands and the result.
template <typename Body>
void for_each_problem(Body body) {
  struct Scales {
    float a, b, y;
    bool is_product;
  };
  const Scales all[] = {{0.5F, 0.25F, 0.5F, false},
                        {0.0173F, 0.0231F, 0.0297F, false},
                        {0.1F, 0.05F, 0.1F, false},
                        {0.03F, 0.04F, 0.011F, false},
                        // Every tenth step of a is next to a tie where b is zero.
                        {0.14852719F, 0.16018882F, 0.16503328F, false},
                        {0.9F, 0.03F, 1, false},
                        // More levels than whole numbers have room for.
                        {0.15F, 0.1F, 0.01F, false},
                        {0.5F, 0.25F, 2, true},
                        {0.0173F, 1 / 127.0F, 0.0297F, true},
                        {0.043F, 1 / 255.0F, 0.04F, true},
                        {3, 0.0117F, 0.01F, true}};
  for (const Scales& s : all)
    for (const Between between : {Between::kNothing, Between::kRelu, Between::kClip})
      for (int signs = 0; signs < 8; ++signs) {
        const QuantizedProblem p{
            s.a, s.b, s.y, s.is_product, between, (signs & 1) != 0, (signs & 2) != 0, (signs & 4) != 0};
        SCOPED_TRACE(testing::Message()
                     << s.a << " " << s.b << " " << s.y << " " << static_cast<int>(between) << " " << signs);
        body(p);
      }
}

DType result_type(const QuantizedProblem& p) { return p.is_signed ? DType::kInt8 : DType::kUInt8; }

bool is_known(const QuantizedProblem& p) {
  PointwiseProgram program = pair_program(p);
  program.allocate_registers();
  return QuantizedPair::of(program, dense_operands(p), result_type(p)).has_value();
}

TEST(QuantizedPair, AllPairsOfLevelsAreExact) {
  std::vector<uint8_t> a, b;
  for (int i = 0; i < 65536; ++i)
    a.push_back(static_cast<uint8_t>(i)), b.push_back(static_cast<uint8_t>(i >> 8));
  // A row that ends inside a vector.
  a.pop_back(), b.pop_back();
  for_each_problem([&](const QuantizedProblem& p) {
    ASSERT_TRUE(is_known(p));
    const std::vector<uint8_t> wanted = paired_one_by_one(p, a, b);
    on_every_target([&](const char* target) {
      SCOPED_TRACE(target);
      std::vector<uint8_t> q(a.size() + 1, 99);
      const PointwiseLoop loop(pair_program(p), Shape{static_cast<int64_t>(a.size())}, dense_operands(p),
                               {result_type(p)});
      loop.run(std::array<const void*, 2>{a.data(), b.data()}, std::array<void*, 1>{q.data()});
      EXPECT_EQ(q.back(), 99);
      q.pop_back();
      ASSERT_EQ(q, wanted);
    });
  });
}

/// Values that are read again and again: those of the strides 0.
std::vector<uint8_t> spread(const std::vector<uint8_t>& values, const Shape& domain,
                            const std::vector<int64_t>& strides) {
  std::vector<uint8_t> all;
  for (int64_t i = 0; i < domain.numel(); ++i) {
    int64_t at = 0, rest = i;
    for (size_t d = domain.size(); d-- > 0; rest /= domain[d]) at += rest % domain[d] * strides[d];
    all.push_back(values[static_cast<size_t>(at)]);
  }
  return all;
}

/// Images whose channels, or pixels, meet one number each: channels last and row-major, of whichever operand.
TEST(QuantizedPair, RowsAndNumbersThatRepeat) {
  struct Case {
    Shape domain;
    std::vector<int64_t> strides;
  };
  const Case cases[] = {
      {{2, 35, 24}, {24, 0, 1}},       // of each image, channels last
      {{3, 7, 5, 129}, {0, 0, 0, 1}},  // for all images
      {{2, 3, 4100}, {4100, 0, 1}},    // more than the longest row
      {{2, 13, 50}, {13, 1, 0}},       // row-major
      {{2, 3, 5, 40}, {15, 0, 3, 0}}, {{3, 70}, {0, 0}},
  };
  std::mt19937 random(4);
  const auto drawn = [&](int64_t count) {
    std::vector<uint8_t> values(static_cast<size_t>(count));
    for (uint8_t& v : values) v = static_cast<uint8_t>(random());
    return values;
  };
  for_each_problem([&](const QuantizedProblem& p) {
    for (const Case& c : cases) {
      int64_t most = 1;
      for (size_t d = 0; d < c.domain.size(); ++d) most += (c.domain[d] - 1) * c.strides[d];
      for (const bool is_first : {true, false}) {
        SCOPED_TRACE(testing::Message() << c.domain.str() << " " << is_first);
        const std::vector<uint8_t> wide = drawn(c.domain.numel()), narrow = drawn(most),
                                   met = spread(narrow, c.domain, c.strides);
        std::vector<PointwiseOperand> operands = dense_operands(p);
        operands[is_first ? 1 : 0].strides = c.domain.strides();
        operands[is_first ? 0 : 1].strides = c.strides;
        const PointwiseLoop loop(pair_program(p), c.domain, operands, {result_type(p)});
        std::vector<uint8_t> q(wide.size());
        loop.run(std::array<const void*, 2>{is_first ? narrow.data() : wide.data(),
                                            is_first ? wide.data() : narrow.data()},
                 std::array<void*, 1>{q.data()});
        ASSERT_EQ(q, is_first ? paired_one_by_one(p, met, wide) : paired_one_by_one(p, wide, met));
      }
    }
  });
}

TEST(QuantizedPair, OtherProgramsAreLeftAlone) {
  const QuantizedProblem usual{.a_scale = 0.5F, .b_scale = 0.25F, .scale = 0.5F};
  EXPECT_TRUE(is_known(usual));
  PointwiseProgram sum = pair_program(usual);
  EXPECT_FALSE(QuantizedPair::of(sum, dense_operands(usual), DType::kInt8))
      << "the result is of another type than its levels";
  QuantizedProblem p = usual;
  p.scale = 0.001F;
  EXPECT_FALSE(is_known(p)) << "levels too large for one product and sum";
  p.scale = 1e-42F;
  EXPECT_FALSE(is_known(p));
  p = usual;
  p.is_product = true;
  EXPECT_TRUE(is_known(p));
  p.a_scale = 1e38F, p.b_scale = 1e-36F;
  EXPECT_FALSE(is_known(p)) << "numbers that overflow";
  p.a_scale = 1e-22F, p.b_scale = 1e-22F;
  EXPECT_FALSE(is_known(p)) << "a factor without the precision of others";
  PointwiseProgram difference(2);
  const int a = difference.append(PointwiseOp::kDequantize, {0, -1, -1}, 1, 0),
            b = difference.append(PointwiseOp::kDequantize, {1, -1, -1}, 1, 0);
  difference.add_result(difference.append(PointwiseOp::kQuantizeUint8,
                                          {difference.append(PointwiseOp::kSub, {a, b, -1}), -1, -1}, 1, 0));
  EXPECT_FALSE(QuantizedPair::of(difference, dense_operands(usual), DType::kUInt8));
}

}  // namespace
}  // namespace assay::kernels::quantized_pair_test
