// Values of the element-wise operators on floats, from the specification's formulas.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ops/op_test_util.h"

namespace assay::elementwise_test {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNaN = std::numeric_limits<double>::quiet_NaN();

void expect_doubles(const Tensor& y, const std::vector<double>& expected, const std::string& what) {
  ASSERT_EQ(y.dtype(), DType::kFloat64) << what;
  ASSERT_EQ(y.numel(), static_cast<int64_t>(expected.size())) << what;
  for (size_t i = 0; i < expected.size(); ++i) {
    const double value = y.data<double>()[i];
    if (std::isnan(expected[i]))
      EXPECT_TRUE(std::isnan(value)) << what << " at " << i << ": " << value;
    else if (std::isinf(expected[i]) || expected[i] == 0)
      EXPECT_EQ(value, expected[i]) << what << " at " << i;
    else
      EXPECT_NEAR(value, expected[i], 1e-14 * std::abs(expected[i])) << what << " at " << i;
  }
}

struct UnaryCase {
  const char* op;
  int64_t opset;
  std::vector<double> x, y;
  AttributeList attributes = {};
};

class Unary : public testing::TestWithParam<UnaryCase> {};

TEST_P(Unary, GivesTheSpecifiedValues) {
  const UnaryCase& p = GetParam();
  expect_doubles(run_op(p.op, p.opset, {Tensor::vector(p.x)}, p.attributes)[0], p.y, p.op);
}

// Expected values were computed with 50 digits and rounded.
INSTANTIATE_TEST_SUITE_P(
    Math, Unary,
    testing::Values(UnaryCase{"Abs", 13, {-2.5, 0, kNaN, -kInf}, {2.5, 0, kNaN, kInf}},
                    UnaryCase{"Neg", 13, {-2.5, 3, kInf}, {2.5, -3, -kInf}},
                    UnaryCase{"Sign", 13, {-2.5, 0, 3, kNaN, -kInf}, {-1, 0, 1, kNaN, -1}},
                    UnaryCase{"Ceil", 13, {-1.5, 1.2, 2}, {-1, 2, 2}},
                    UnaryCase{"Floor", 13, {-1.5, 1.2, 2}, {-2, 1, 2}},
                    UnaryCase{"Round", 11, {0.5, 1.5, 2.5, -0.5, -1.5, 2.3, kInf}, {0, 2, 2, 0, -2, 2, kInf}},
                    UnaryCase{"Sqrt", 13, {0, 2, -1}, {0, 1.4142135623730951, kNaN}},
                    UnaryCase{"Exp", 13, {0, 1, -kInf, 1000}, {1, 2.718281828459045, 0, kInf}},
                    UnaryCase{"Log", 13, {1, 10, 0, -1}, {0, 2.302585092994046, -kInf, kNaN}},
                    UnaryCase{"Reciprocal", 13, {4, -0.5, 0}, {0.25, -2, kInf}},
                    UnaryCase{"Erf", 13, {0, 0.5, -3}, {0, 0.5204998778130465, -0.9999779095030014}},
                    UnaryCase{
                        "Sin", 7, {0, 1, 3.141592653589793}, {0, 0.8414709848078965, 1.2246467991473532e-16}},
                    UnaryCase{"Cos", 7, {0, 1}, {1, 0.5403023058681398}},
                    UnaryCase{"Tan", 7, {0, 1}, {0, 1.5574077246549023}},
                    UnaryCase{"Asin", 7, {0.5, 2}, {0.5235987755982989, kNaN}},
                    UnaryCase{"Acos", 7, {0.5, 2}, {1.0471975511965979, kNaN}},
                    UnaryCase{"Atan", 7, {1, -kInf}, {0.7853981633974483, -1.5707963267948966}},
                    UnaryCase{"Sinh", 9, {1, -1e-8}, {1.1752011936438014, -1e-8}},
                    UnaryCase{"Cosh", 9, {1}, {1.5430806348152437}},
                    UnaryCase{"Tanh", 13, {1, -1e-8, 30}, {0.7615941559557649, -1e-8, 1}},
                    UnaryCase{"Asinh", 9, {1}, {0.881373587019543}},
                    UnaryCase{"Acosh", 9, {2, 0.5}, {1.3169578969248167, kNaN}},
                    UnaryCase{"Atanh", 9, {0.5, 1, 2}, {0.5493061443340549, kInf, kNaN}}));

INSTANTIATE_TEST_SUITE_P(
    Activations, Unary,
    testing::Values(
        UnaryCase{"Sigmoid", 13, {0, -1, -750, kNaN}, {0.5, 0.2689414213699951, 0, kNaN}},
        UnaryCase{"Softplus", 22, {0, -50, 800}, {0.6931471805599453, 1.9287498479639178e-22, 800}},
        UnaryCase{"Softsign", 22, {1, -3}, {0.5, -0.75}},
        UnaryCase{"LeakyRelu", 16, {-2, 3}, {-2 * double{0.01f}, 3}},
        UnaryCase{"LeakyRelu", 6, {-2, 3}, {-0.5, 3}, {{"alpha", 0.25f}}},
        UnaryCase{"Elu", 6, {-1, 2, 0}, {-1.2642411176571153, 2, 0}, {{"alpha", 2.0f}}},
        UnaryCase{"Selu", 6, {-1, 1}, {-1.1113307412864784, 1.0507010221481323}},
        UnaryCase{"Celu", 12, {-1, 1, kNaN, -kInf}, {-0.7869386805747332, 1, kNaN, -2}, {{"alpha", 2.0f}}},
        UnaryCase{"HardSigmoid", 6, {-3, 0, 1, 9, kNaN}, {0, 0.5, 0.75, 1, kNaN}, {{"alpha", 0.25f}}},
        UnaryCase{"HardSwish", 14, {-4, -1, 1, 6}, {0, -1.0 / 3, 2.0 / 3, 6}},
        UnaryCase{"Mish", 18, {-2, 0, 1, 50}, {-0.2525014826957089, 0, 0.8650983882673103, 50}},
        UnaryCase{"Gelu",
                  20,
                  {-1, 0, 2, -5},
                  {-0.15865525393145707, 0, 1.9544997361036416, -1.4332578593959694e-06}},
        UnaryCase{"Gelu",
                  20,
                  {-1, 1},
                  {-0.1588080093917233, 0.8411919906082768},
                  {{"approximate", std::string("tanh")}}},
        UnaryCase{"Swish", 24, {-1, 2}, {-0.2689414213699951, 1.7615941559557649}},
        UnaryCase{"ThresholdedRelu", 10, {0.5, 1, 1.5, kNaN}, {0, 0, 1.5, kNaN}},
        UnaryCase{"Shrink", 9, {-2, -0.5, 0.4, 2}, {-1.75, 0, 0, 1.75}, {{"bias", 0.25f}}}));

TEST(Arithmetic, BroadcastsFloats) {
  const Tensor a = Tensor::from<double>({2, 1}, std::vector<double>{1, 2});
  const Tensor b = Tensor::vector<double>({10, 20, 0});
  const std::pair<const char*, std::vector<double>> cases[] = {
      {"Add", {11, 21, 1, 12, 22, 2}},      {"Sub", {-9, -19, 1, -8, -18, 2}},
      {"Mul", {10, 20, 0, 20, 40, 0}},      {"Div", {0.1, 0.05, kInf, 0.2, 0.1, kInf}},
      {"Pow", {1, 1, 1, 1024, 1048576, 1}},
  };
  for (const auto& [op, expected] : cases) {
    const Tensor y = run_op(op, 15, {a, b})[0];
    EXPECT_EQ(y.shape(), (Shape{2, 3})) << op;
    expect_doubles(y, expected, op);
  }
}

TEST(Variadic, TakesOneOrMoreInputsAndBroadcasts) {
  const Tensor a = Tensor::vector<double>({1, kNaN, 3}), b = Tensor::scalar<double>(2.0),
               c = Tensor::from<double>({1, 3}, std::vector<double>{0, 5, 10});
  const std::pair<const char*, std::vector<double>> cases[] = {
      {"Max", {2, kNaN, 10}}, {"Min", {0, kNaN, 2}}, {"Sum", {3, kNaN, 15}}, {"Mean", {1, kNaN, 5}}};
  for (const auto& [op, expected] : cases) {
    expect_doubles(run_op(op, 13, {a, b, c})[0], expected, op);
    expect_doubles(run_op(op, 8, {a})[0], {1, kNaN, 3}, op);
  }
  // NaN wins from either side.
  expect_doubles(run_op("Max", 13, {b, a})[0], {2, kNaN, 3}, "Max");
}

TEST(Clip, TakesAttributesThenInputs) {
  const Tensor x = Tensor::vector<double>({-5, 0.5, 5, kNaN});
  expect_doubles(run_op("Clip", 6, {x}, {{"min", -1.0f}, {"max", 2.0f}})[0], {-1, 0.5, 2, kNaN}, "Clip-6");
  const Tensor low = Tensor::scalar<double>(-1.0), high = Tensor::scalar<double>(2.0);
  expect_doubles(run_op("Clip", 13, {x, low, high})[0], {-1, 0.5, 2, kNaN}, "Clip-13");
  expect_doubles(run_op("Clip", 13, {x, Tensor(), high})[0], {-5, 0.5, 2, kNaN}, "no min");
  expect_doubles(run_op("Clip", 13, {x, high, low})[0], {-1, -1, -1, kNaN}, "max wins over a larger min");
  expect_doubles(run_op("Clip", 13, {Tensor::vector<double>({-kInf, kInf})})[0], {-kInf, kInf}, "no bounds");
  EXPECT_THROW(run_op("Clip", 13, {x, x}), Error) << "min must be a scalar";
}

TEST(PRelu, BroadcastsTheSlopeToTheInputOnly) {
  const Tensor x = Tensor::from<double>({2, 2}, std::vector<double>{-1, -2, 3, -4});
  expect_doubles(run_op("PRelu", 16, {x, Tensor::vector<double>({0.5, 2})})[0], {-0.5, -4, 3, -8}, "PRelu");
  EXPECT_THROW(run_op("PRelu", 16, {Tensor::vector<double>({-1, 1}), x}), Error);
}

TEST(SwiGLU, MultipliesTheGateAndRefusesToBroadcast) {
  const Tensor a = Tensor::vector<double>({-1, 2}), b = Tensor::vector<double>({10, -1});
  expect_doubles(run_op("SwiGLU", 28, {a, b})[0], {-2.689414213699951, -1.7615941559557649}, "SwiGLU");
  EXPECT_THROW(run_op("SwiGLU", 28, {a, Tensor::vector<double>({1})}), Error);
}

TEST(Det, HandlesBatchesExchangesSingularAndEmptyMatrices) {
  const Tensor x = Tensor::from<double>({3, 2, 2}, std::vector<double>{1, 2, 3, 4, 0, 1, 1, 0, 2, 4, 1, 2});
  expect_doubles(run_op("Det", 11, {x})[0], {-2, -1, 0}, "Det");
  const Tensor empty = run_op("Det", 22, {Tensor::zeros(DType::kFloat64, {0, 0})})[0];
  expect_doubles(empty, {1}, "the determinant of no rows");
  EXPECT_THROW(run_op("Det", 11, {Tensor::zeros(DType::kFloat64, {2, 3})}), Error);
  EXPECT_THROW(run_op("Det", 11, {Tensor::zeros(DType::kFloat64, {2})}), Error);
}

TEST(Gelu, RefusesAnUnknownApproximation) {
  EXPECT_THROW(run_op("Gelu", 20, {Tensor::vector<double>({1})}, {{"approximate", std::string("fast")}}),
               Error);
}

}  // namespace
}  // namespace assay::elementwise_test
