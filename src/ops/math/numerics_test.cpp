// The bounds that Numerics promises hold for a float32 computation of the published formula with the C
// library's functions, and are tight enough that a wrong result exceeds them.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "ops/op_test_util.h"

namespace assay::numerics_test {
namespace {

constexpr double kUnitRoundoff = 0x1p-24;

/// Bound for every element of output 0, as error_bounds() forms it, for the kinds that element-wise operators
/// have.
Tensor bound_of(const char* op, int64_t opset, std::vector<Tensor> inputs, AttributeList attributes,
                const Tensor& y) {
  const OpTestNode n(op, opset, std::vector<bool>(inputs.size(), true), std::move(attributes), 1, "");
  const Numerics& numerics = n.op().numerics;
  EvalContext c(n.node(), n.op(), n.version(), std::move(inputs));
  if (numerics.kind == Numerics::Kind::kCustom) return numerics.bound(c, kUnitRoundoff, 0, y);
  Tensor bound = Tensor::zeros(DType::kFloat64, y.shape());
  if (numerics.kind == Numerics::Kind::kElementwise)
    for (int64_t i = 0; i < y.numel(); ++i)
      bound.mutable_data<double>()[i] = numerics.ulps * kUnitRoundoff * std::abs(y.data<double>()[i]);
  return bound;
}

struct FormulaCase {
  const char* op;
  int64_t opset;
  double low, high;                     ///< inputs are drawn from here
  std::function<float(float)> formula;  ///< in float32 arithmetic
  double widest;                        ///< the bound stays below this many u * max(1, |x|)
  AttributeList attributes = {};
};

class Formula : public testing::TestWithParam<FormulaCase> {};

TEST_P(Formula, StaysWithinTheBound) {
  const FormulaCase& p = GetParam();
  std::mt19937 random(11);
  std::uniform_real_distribution<float> large(static_cast<float>(p.low), static_cast<float>(p.high)),
      unit(0, 1);
  std::vector<double> x;
  for (int i = 0; i < 20000; ++i) {
    // A third of the inputs close to 0, where sums with 1 cancel.
    const float v = i % 3 == 0 ? large(random) * std::exp2(-20 * unit(random)) : large(random);
    if (v >= static_cast<float>(p.low)) x.push_back(v);
  }
  const Tensor in = Tensor::vector(x), y = run_op(p.op, p.opset, {in}, p.attributes)[0];
  const Tensor bound = bound_of(p.op, p.opset, {in}, p.attributes, y);
  for (size_t i = 0; i < x.size(); ++i) {
    const double exact = y.data<double>()[i], allowed = bound.data<double>()[i];
    const double error = std::abs(static_cast<double>(p.formula(static_cast<float>(x[i]))) - exact);
    if (std::abs(exact) < 1e-30) continue;  // near the subnormal numbers of float32 u is not a measure
    ASSERT_LE(error, allowed) << p.op << "(" << x[i] << ") = " << exact;
    ASSERT_LE(allowed, p.widest * kUnitRoundoff * std::max(1.0, std::abs(x[i])))
        << p.op << "(" << x[i] << ")";
  }
}

float sigmoid(float x) { return 1 / (1 + std::exp(-x)); }
float softplus(float x) { return std::log(std::exp(x) + 1); }
/// Abramowitz and Stegun 7.1.26.
float rational_erf(float x) {
  const float t = 1 / (1 + 0.3275911f * std::abs(x));
  float p = 1.061405429f;
  for (const float a : {-1.453152027f, 1.421413741f, -0.284496736f, 0.254829592f}) p = p * t + a;
  return std::copysign(1 - p * t * std::exp(-x * x), x);
}
float gelu_tanh(float x) { return 0.5f * x * (1 + std::tanh(0.797884561f * (x + 0.044715f * x * x * x))); }
float selu(float x) {
  const float alpha = 1.67326319f, gamma = 1.05070102f;
  return x > 0 ? gamma * x : gamma * (alpha * std::exp(x) - alpha);
}

INSTANTIATE_TEST_SUITE_P(
    Float32, Formula,
    testing::Values(
        FormulaCase{"Exp", 13, -80, 3, [](float x) { return std::exp(x); }, 170},
        FormulaCase{"Sin", 7, -100, 100, [](float x) { return std::sin(x); }, 10},
        FormulaCase{"Acos", 7, -1, 1, [](float x) { return std::acos(x); }, 35},
        FormulaCase{"Erf", 13, -4, 4, [](float x) { return std::erf(x); }, 20},
        FormulaCase{"Erf", 13, -4, 4, rational_erf, 20},
        FormulaCase{"Gelu", 20, -9, 9, [](float x) { return 0.5f * x * (1 + rational_erf(x / 1.41421356f)); },
                    20},
        FormulaCase{"Sigmoid", 13, -20, 20, sigmoid, 13},
        FormulaCase{"Sigmoid", 13, -20, 20, [](float x) { return 0.5f + 0.5f * std::tanh(0.5f * x); }, 13},
        FormulaCase{"Softplus", 22, -20, 20, softplus, 20},
        FormulaCase{"Softsign", 22, -9, 9, [](float x) { return x / (1 + std::abs(x)); }, 4},
        FormulaCase{"Elu", 6, -20, 9, [](float x) { return x < 0 ? std::exp(x) - 1 : x; }, 12},
        FormulaCase{"Selu", 6, -20, 9, selu, 20},
        FormulaCase{"Celu",
                    12,
                    -20,
                    9,
                    [](float x) { return std::max(0.f, x) + std::min(0.f, 0.3f * (std::exp(x / 0.3f) - 1)); },
                    10,
                    {{"alpha", 0.3f}}},
        FormulaCase{"HardSigmoid", 6, -9, 9,
                    [](float x) { return std::max(0.f, std::min(1.f, 0.2f * x + 0.5f)); }, 4},
        FormulaCase{"HardSwish", 14, -9, 9,
                    [](float x) { return x * std::max(0.f, std::min(1.f, x / 6 + 0.5f)); }, 7},
        FormulaCase{"HardSwish", 14, -9, 9,
                    [](float x) { return x * std::min(6.f, std::max(0.f, x + 3)) / 6; }, 7},
        FormulaCase{"Mish", 18, -20, 20, [](float x) { return x * std::tanh(softplus(x)); }, 20},
        FormulaCase{"Gelu", 20, -9, 9, [](float x) { return 0.5f * x * (1 + std::erf(x / 1.41421356f)); },
                    20},
        FormulaCase{"Gelu", 20, -9, 9, gelu_tanh, 16, {{"approximate", std::string("tanh")}}},
        FormulaCase{
            "Swish", 24, -20, 20, [](float x) { return x * sigmoid(1.5f * x); }, 16, {{"alpha", 1.5f}}}));

TEST(PowBound, CoversTheExponentialOfTheLogarithm) {
  std::mt19937 random(3);
  std::uniform_real_distribution<float> base(0.01f, 20), exponent(-9, 9);
  for (int i = 0; i < 5000; ++i) {
    const float x = base(random), e = exponent(random);
    const std::vector<Tensor> in{Tensor::vector<double>({x}), Tensor::vector<double>({e})};
    const Tensor y = run_op("Pow", 15, in)[0];
    const double bound = bound_of("Pow", 15, in, {}, y).item<double>(), exact = y.item<double>();
    ASSERT_LE(std::abs(static_cast<double>(std::exp(e * std::log(x))) - exact), bound) << x << "^" << e;
    ASSERT_LE(bound, 400 * kUnitRoundoff * exact);
  }
}

float float32_determinant(std::vector<float> a, size_t n) {
  float product = 1;
  for (size_t k = 0; k < n; ++k) {
    for (size_t i = k + 1; i < n; ++i)
      for (size_t j = n; j-- > k;) a[i * n + j] -= a[i * n + k] / a[k * n + k] * a[k * n + j];
    product *= a[k * n + k];
  }
  return product;
}

TEST(DetBound, CoversEliminationWithoutExchanges) {
  std::mt19937 random(5);
  std::uniform_real_distribution<float> entry(-1, 1);
  for (int round = 0; round < 500; ++round) {
    constexpr size_t kN = 6;
    std::vector<float> a(kN * kN);
    for (float& v : a) v = entry(random);
    for (size_t i = 0; i < kN; ++i) a[i * kN + i] += 4;  // dominant, so that no exchange is needed
    const std::vector<Tensor> in{Tensor::from<double>({kN, kN}, std::vector<double>(a.begin(), a.end()))};
    const Tensor y = run_op("Det", 11, in)[0];
    const double bound = bound_of("Det", 11, in, {}, y).item<double>();
    ASSERT_LE(std::abs(static_cast<double>(float32_determinant(a, kN)) - y.item<double>()), bound);
    ASSERT_LE(bound, 1e-3 * std::abs(y.item<double>()));
  }
}

}  // namespace
}  // namespace assay::numerics_test
