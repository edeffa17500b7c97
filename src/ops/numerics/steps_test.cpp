// The arithmetic of fused operators: its bounds hold for a float32 computation and for its own noise, and are
// not so wide that any result would pass.
#include "ops/numerics/steps.h"

#include <cmath>

#include "ops/contrib/contrib_test_util.h"

namespace assay::steps_test {
namespace {

constexpr double kU = 0x1p-24;

struct FusedCase {
  const char* op;
  std::vector<Tensor> inputs;
  AttributeList attributes;
};

class Fused : public testing::TestWithParam<FusedCase> {
 protected:
  /// Runs f with the operator's context.
  template <typename F>
  Tensor with_context(F f) const {
    const FusedCase& p = GetParam();
    std::vector<bool> present;
    for (const Tensor& t : p.inputs) present.push_back(t.defined());
    const OpTestNode n(p.op, 1, present, p.attributes, 1, kMsDomain);
    EvalContext c(n.node(), n.op(), n.version(), p.inputs);
    return f(n, c);
  }
  Tensor exact() const { return run_ms(GetParam().op, GetParam().inputs, GetParam().attributes); }
  Tensor bound() const {
    const Tensor y = exact();
    return with_context(
        [&](const OpTestNode& n, EvalContext& c) { return n.op().numerics.bound(c, kU, 0, y); });
  }
  Tensor noisy(uint64_t key) const {
    return with_context([&](const OpTestNode& n, EvalContext& c) {
      n.op().numerics.perturb(c, kU, key);
      return c.outputs()[0];
    });
  }
};

TEST_P(Fused, NoiseStaysWithinTheBound) {
  const Tensor y = exact(), most = bound();
  double widest = 0;
  for (uint64_t key = 1; key <= 5; ++key) {
    const Tensor noise = noisy(key);
    double largest = 0;
    for (int64_t i = 0; i < y.numel(); ++i) {
      const double error = std::fabs(noise.data<double>()[i] - y.data<double>()[i]);
      // The bound is of first order in u.
      ASSERT_LE(error, most.data<double>()[i] * 1.001 + 1e-15) << "element " << i;
      largest = std::max(largest, error);
      widest = std::max(widest, most.data<double>()[i]);
    }
    EXPECT_GT(largest, kU / 100) << "no noise";
  }
  EXPECT_LT(widest, 1e-3);
}

TEST_P(Fused, NoiseDependsOnTheKeyOnly) {
  EXPECT_TRUE(noisy(7).identical(noisy(7)));
  EXPECT_FALSE(noisy(7).identical(noisy(8)));
}

const Tensor kX = random_tensor({2, 5, 16}, 1), kVector = random_tensor({16}, 2),
             kOther = random_tensor({2, 5, 16}, 3);

INSTANTIATE_TEST_SUITE_P(
    Operators, Fused,
    testing::Values(
        FusedCase{"BiasGelu", {kX, kVector}, {}}, FusedCase{"FastGelu", {kX, kVector}, {}},
        FusedCase{"QuickGelu", {kX}, {}},
        FusedCase{"SkipLayerNormalization", {kX, kOther, kVector, kVector, kVector}, {}},
        FusedCase{"SkipSimplifiedLayerNormalization", {kX, kOther, kVector}, {}},
        FusedCase{"GroupNorm", {kX, kVector, kVector}, {{"groups", int64_t{4}}, {"activation", int64_t{1}}}},
        FusedCase{"FusedGemm",
                  {random_tensor({6, 20}, 4), random_tensor({20, 7}, 5), random_tensor({7}, 6)},
                  {{"activation", std::string("Tanh")}}},
        FusedCase{"Attention",
                  {kX, random_tensor({16, 48}, 7), random_tensor({48}, 8)},
                  {{"num_heads", int64_t{2}}, {"unidirectional", int64_t{1}}}},
        FusedCase{"MultiHeadAttention", {kX, kOther, kX}, {{"num_heads", int64_t{4}}}},
        FusedCase{"GroupQueryAttention",
                  {kX, kOther, kX, {}, {}, Tensor::vector<int32_t>({4, 4}), Tensor::vector<int32_t>({5})},
                  {{"num_heads", int64_t{2}},
                   {"kv_num_heads", int64_t{2}},
                   {"softcap", 2.0F},
                   {"smooth_softmax", int64_t{1}}}},
        FusedCase{"RotaryEmbedding",
                  {kX, Tensor::vector<int64_t>({0}), random_tensor({8, 4}, 9), random_tensor({8, 4}, 10)},
                  {}}),
    [](const auto& info) { return std::string(info.param.op); });

/// float32 from end to end.
std::vector<float> layer_norm_of_sum(const Tensor& a, const Tensor& b, const Tensor& gamma, int64_t n) {
  std::vector<float> y;
  for (int64_t row = 0; row < a.numel(); row += n) {
    std::vector<float> s(static_cast<size_t>(n));
    float mean = 0, square = 0;
    for (int64_t i = 0; i < n; ++i) {
      float& v = s[static_cast<size_t>(i)];
      v = static_cast<float>(a.data<double>()[row + i]) + static_cast<float>(b.data<double>()[row + i]);
      mean += v;
    }
    mean /= static_cast<float>(n);
    for (const float v : s) square += (v - mean) * (v - mean);
    const float inverse = 1 / std::sqrt(square / static_cast<float>(n) + 1e-12F);
    for (int64_t i = 0; i < n; ++i)
      y.push_back((s[static_cast<size_t>(i)] - mean) * inverse * static_cast<float>(gamma.data<double>()[i]));
  }
  return y;
}

TEST(Steps, BoundTheErrorOfFloat32) {
  // Inputs that float32 holds exactly, with a mean much larger than the deviation.
  Tensor a = random_tensor({50, 64}, 1), b = random_tensor({50, 64}, 2), gamma = random_tensor({64}, 3);
  for (Tensor* t : {&a, &b, &gamma})
    for (double& x : t->mutable_span<double>())
      x = static_cast<double>(static_cast<float>(x + (t == &a ? 10 : 0)));
  const OpTestNode n("SkipLayerNormalization", 1, {true, true, true}, {}, 1, kMsDomain);
  EvalContext c(n.node(), n.op(), n.version(), {a, b, gamma});
  n.version().eval(c);
  const Tensor y = c.outputs()[0], bound = n.op().numerics.bound(c, kU, 0, y);
  const std::vector<float> computed = layer_norm_of_sum(a, b, gamma, 64);
  for (int64_t i = 0; i < y.numel(); ++i)
    ASSERT_LE(std::fabs(static_cast<double>(computed[static_cast<size_t>(i)]) - y.data<double>()[i]),
              bound.data<double>()[i])
        << i;
}

TEST(Steps, GiveZerosToARowWithoutKeys) {
  Steps steps;
  const Tensor x = Tensor::from<double>({2, 2}, std::vector<double>{-HUGE_VAL, -HUGE_VAL, 0, -HUGE_VAL});
  EXPECT_EQ(values(steps.softmax(steps.given(x)).value), (Values{0, 0, 1, 0}));
  EXPECT_EQ(values(steps.softmax(steps.given(x), 0).value), (Values{0, 0, 0.5, 0}));
}

}  // namespace
}  // namespace assay::steps_test
