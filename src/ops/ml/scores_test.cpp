#include <cmath>
#include <limits>

#include "ops/ml/ml_test_util.h"
#include "ops/ml/post_transform.h"

namespace assay::scores_test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(PostTransform, LogisticNeitherOverflowsNorCancels) {
  EXPECT_EQ(logistic(0.0), 0.5);
  EXPECT_EQ(logistic(1000.0), 1);
  EXPECT_EQ(logistic(-700.0), std::exp(-700.0));
  EXPECT_NEAR(logistic(2.0), 0.8807970779778823, 1e-16);
}

TEST(PostTransform, ProbitIsTheNormalQuantile) {
  EXPECT_NEAR(probit(0.975), 1.959963984540054, 5e-15);
  EXPECT_NEAR(probit(0.09), -1.3407550336902165, 3e-15);
  EXPECT_NEAR(probit(0.11), -1.2265281200366098, 3e-15);
  EXPECT_NEAR(probit(1e-10), -6.361340902404056, 1e-14);
  EXPECT_NEAR(probit(1e-300), -37.0471, 1e-4);
  EXPECT_EQ(probit(0.5), 0);
  EXPECT_EQ(probit(0.0), -kInfinity);
  EXPECT_EQ(probit(1.0), kInfinity);
  EXPECT_TRUE(std::isnan(probit(-0.1)) && std::isnan(probit(1.1)) && std::isnan(probit(std::nan(""))));
  for (double p = 0.001; p < 1; p += 0.001)
    EXPECT_NEAR(0.5 * std::erfc(-probit(p) / std::sqrt(2.0)), p, 1e-15 + 1e-15 * p);
}

TEST(PostTransform, SoftmaxOfNonzeroLeavesZerosOut) {
  Doubles scores = {1000, 0, 1000 + std::log(3.0)};
  apply(PostTransform::kSoftmaxZero, std::span<double>(scores));
  EXPECT_NEAR(scores[0], 0.25, 1e-12);
  EXPECT_EQ(scores[1], 0);
  EXPECT_NEAR(scores[2], 0.75, 1e-12);
  scores = {1000, 1000, -1000};
  apply(PostTransform::kSoftmax, std::span<double>(scores));
  EXPECT_EQ(scores, (Doubles{0.5, 0.5, 0}));
}

TEST(PostTransform, TheFirstOfTwoClassesGetsTheComplement) {
  EXPECT_EQ(two_scores(PostTransform::kNone, 0.25, false), (std::array<double, 2>{-0.25, 0.25}));
  EXPECT_EQ(two_scores(PostTransform::kNone, 0.25, true), (std::array<double, 2>{0.75, 0.25}));
  const auto odds = two_scores(PostTransform::kLogistic, 3.0, true);
  EXPECT_NEAR(odds[0] + odds[1], 1, 1e-15);
  const auto quantiles = two_scores(PostTransform::kProbit, 0.25, false);
  EXPECT_EQ(quantiles[0], -quantiles[1]);
}

TEST(Rounded, BoundsFloat32Arithmetic) {
  for (float a = 0.1F; a < 3; a += 0.37F)
    for (float b = -2.1F; b < 3; b += 0.41F) {
      const float narrow = std::exp(a * b - a) / (a + std::sqrt(a));
      const Rounded x(a), y(b), wide = exp(x * y - x) / (x + sqrt(x));
      EXPECT_LE(std::fabs(wide.value - static_cast<double>(narrow)), kFloatRoundoff * wide.error);
      EXPECT_LE(kFloatRoundoff * wide.error, 40 * kFloatRoundoff * (1 + std::fabs(a * b)) * wide.value);
    }
}

const AttributeList kPlane = {{"coefficients", Floats{1, -2, 0.5, 3, 4, 5}},
                              {"intercepts", Floats{0.25, -1}}};

/// As ONNX Runtime 1.31 computes it: rows are as long as the input has features, and the rest is unused.
TEST(LinearRegressor, CoefficientsThatAreLeftOverAreNotUsed) {
  const AttributeList two =
      with({{"coefficients", Floats{1, 10, 100, 1000, 1e4F, 1e5F, 1e6F}}}, "targets", int64_t{2});
  const Tensor x = Tensor::from<float>({2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6});
  expect_values(run_ml("LinearRegressor", 1, {x}, two)[0], {321, 321000, 654, 654000});
  EXPECT_THROW(run_ml("LinearRegressor", 1, {x}, with(two, "coefficients", Floats{1, 2, 3, 4, 5})), Error);
  const AttributeList classes = {{"coefficients", Floats{1, 10, 100, 1000, 1e4F, 1e5F, 1e6F, 1e7F}},
                                 {"classlabels_ints", Ints{0, 1}}};
  expect_values(run_ml("LinearClassifier", 1, {x}, classes, 2)[1], {321, 321000, 654, 654000});
}

TEST(LinearRegressor, RowsOfCoefficientsAreTargets) {
  const AttributeList two = with(kPlane, "targets", int64_t{2});
  const Tensor x = Tensor::from<int32_t>({2, 3}, std::vector<int32_t>{1, 2, 4, 0, 0, -2});
  const Tensor y = run_ml("LinearRegressor", 1, {x}, two)[0];
  EXPECT_EQ(y.shape(), (Shape{2, 2}));
  expect_values(y, {-0.75, 30, -0.75, -11});
  // A vector is one row.
  EXPECT_EQ(run_ml("LinearRegressor", 1, {Tensor::vector(Doubles{1, 2, 4})}, two)[0].shape(), (Shape{1, 2}));
  expect_values(run_ml("LinearRegressor", 1, {x}, with(two, "post_transform", std::string("SOFTMAX")))[0],
                {0, 1, 1 / (1 + std::exp(-10.25)), 1 / (1 + std::exp(10.25))}, 1e-12);
}

TEST(LinearRegressor, RejectsSizesThatDoNotFit) {
  const Tensor x = Tensor::from<double>({1, 3}, Doubles{1, 2, 3});
  EXPECT_THROW(run_ml("LinearRegressor", 1, {x}, kPlane), Error);  // 6 for 3 features
  EXPECT_THROW(run_ml("LinearRegressor", 1, {x}, with(kPlane, "targets", int64_t{4})), Error);
  EXPECT_THROW(run_ml("LinearRegressor", 1, {x}, with(kPlane, "targets", int64_t{0})), Error);
  EXPECT_THROW(run_ml("LinearRegressor", 1, {x}, with(kPlane, "targets", int64_t{-2})), Error);
  EXPECT_THROW(run_ml("LinearRegressor", 1, {Tensor::zeros(DType::kFloat64, {1, 3, 1})},
                      with(kPlane, "targets", int64_t{2})),
               Error);
  EXPECT_THROW(run_ml("LinearRegressor", 1, {x},
                      with(with(kPlane, "targets", int64_t{2}), "post_transform", std::string("softmax"))),
               Error);
}

TEST(LinearClassifier, TheLargestScoreWins) {
  const AttributeList attributes = with(kPlane, "classlabels_strings", Strings{"no", "yes"});
  const Tensor x = Tensor::from<double>({2, 3}, Doubles{1, 0, 0, -1, 0, 0});
  const auto y = run_ml("LinearClassifier", 1, {x}, attributes, 2);
  EXPECT_EQ(words(y[0]), (Strings{"yes", "no"}));
  expect_values(y[1], {1.25, 2, -0.75, -4});
}

TEST(LinearClassifier, OneRowScoresTheSecondOfTwoClasses) {
  const AttributeList one = {
      {"coefficients", Floats{2}}, {"intercepts", Floats{-1}}, {"classlabels_ints", Ints{10, 20}}};
  const Tensor x = Tensor::from<double>({3, 1}, Doubles{0, 0.5, 1});
  const auto y = run_ml("LinearClassifier", 1, {x}, one, 2);
  EXPECT_EQ(y[0].to_int64(), (Ints{10, 10, 20}));
  expect_values(y[1], {2, -1, 1, 0, 0, 1});
  const auto odds =
      run_ml("LinearClassifier", 1, {x}, with(one, "post_transform", std::string("LOGISTIC")), 2);
  expect_values(odds[1], {logistic(1.0), logistic(-1.0), 0.5, 0.5, logistic(-1.0), logistic(1.0)}, 1e-15);
}

TEST(LinearClassifier, RejectsBadLabels) {
  const Tensor x = Tensor::from<double>({1, 3}, Doubles{1, 0, 0});
  EXPECT_THROW(run_ml("LinearClassifier", 1, {x}, kPlane, 2), Error);
  EXPECT_THROW(run_ml("LinearClassifier", 1, {x}, with(kPlane, "classlabels_ints", Ints{1}), 2), Error);
  EXPECT_THROW(run_ml("LinearClassifier", 1, {x}, with(kPlane, "classlabels_ints", Ints{1, 2, 3}), 2), Error);
  EXPECT_THROW(
      run_ml("LinearClassifier", 1, {x},
             with(with(kPlane, "classlabels_ints", Ints{1, 2}), "classlabels_strings", Strings{"a", "b"}), 2),
      Error);
}

TEST(LinearClassifier, InfersLabelTypeAndShapes) {
  const AttributeList attributes = with(kPlane, "classlabels_strings", Strings{"no", "yes"});
  const InferResult r = infer_ml(
      "LinearClassifier", 1, {Type::tensor(DType::kInt64, Dims{Dim::symbol("n"), Dim(3)})}, attributes, 2);
  EXPECT_EQ(r.types[0].str(), "string[n]");
  EXPECT_EQ(r.types[1].str(), "float32[n, 2]");
}

const AttributeList kTwoVectors = {
    {"support_vectors", Floats{1, 0, 0, 2}}, {"kernel_params", Floats{0.5, 1, 2}}, {"rho", Floats{0.25}}};

TEST(SVMRegressor, EveryKernel) {
  const AttributeList machine =
      with(with(kTwoVectors, "n_supports", int64_t{2}), "coefficients", Floats{1, -1});
  const Tensor x = Tensor::from<double>({1, 2}, Doubles{3, 1});
  const auto score = [&](const char* kernel) {
    return run_ml("SVMRegressor", 1, {x}, with(machine, "kernel_type", std::string(kernel)))[0]
        .item<double>();
  };
  EXPECT_NEAR(score("LINEAR"), 3 - 2 + 0.25, 1e-12);
  EXPECT_NEAR(score("POLY"), 2.5 * 2.5 - 2 * 2 + 0.25, 1e-12);
  EXPECT_NEAR(score("RBF"), std::exp(-0.5 * 5) - std::exp(-0.5 * 10) + 0.25, 1e-12);
  EXPECT_NEAR(score("SIGMOID"), std::tanh(2.5) - std::tanh(2.0) + 0.25, 1e-12);
  EXPECT_THROW(score("rbf"), Error);
  EXPECT_THROW(run_ml("SVMRegressor", 1, {x}, with(machine, "coefficients", Floats{1})), Error);
  EXPECT_THROW(run_ml("SVMRegressor", 1, {x}, with(machine, "n_supports", int64_t{3})), Error);
  EXPECT_THROW(run_ml("SVMRegressor", 1, {x}, without(machine, "rho")), Error);
}

TEST(SVMRegressor, WithoutSupportVectorsIsLinearAndOneClassHasASign) {
  const AttributeList plane = {{"coefficients", Floats{1, -1}}, {"rho", Floats{-0.5}}};
  const Tensor x = Tensor::from<double>({2, 2}, Doubles{3, 1, 1, 1});
  expect_values(run_ml("SVMRegressor", 1, {x}, plane)[0], {1.5, -0.5});
  expect_values(run_ml("SVMRegressor", 1, {x}, with(plane, "one_class", int64_t{1}))[0], {1, -1});
}

TEST(SVMClassifier, PairsVote) {
  // Three classes on a line, a support vector each; class i beats j > i where x is on its side.
  const AttributeList machines = {{"classlabels_ints", Ints{7, 8, 9}},
                                  {"vectors_per_class", Ints{1, 1, 1}},
                                  {"support_vectors", Floats{1, 1, 1}},
                                  {"coefficients", Floats{-1, 0, 0, -1, -1, 0}},
                                  {"rho", Floats{1, 2, 3}}};
  const Tensor x = Tensor::from<double>({4, 1}, Doubles{0, 1.5, 2.5, 4});
  const auto y = run_ml("SVMClassifier", 1, {x}, machines, 2);
  EXPECT_EQ(y[1].shape(), (Shape{4, 3}));
  // The pairs' scores: 1 - x, 2 - x, 3 - x.
  expect_values(y[1], {1, 2, 3, -0.5, 0.5, 1.5, -1.5, -0.5, 0.5, -3, -2, -1});
  EXPECT_EQ(y[0].to_int64(), (Ints{7, 8, 8, 9}));
  EXPECT_THROW(run_ml("SVMClassifier", 1, {x}, with(machines, "rho", Floats{1, 2}), 2), Error);
  EXPECT_THROW(run_ml("SVMClassifier", 1, {x}, with(machines, "coefficients", Floats{1, 2}), 2), Error);
  EXPECT_THROW(run_ml("SVMClassifier", 1, {x}, with(machines, "vectors_per_class", Ints{1, 2}), 2), Error);
  EXPECT_THROW(run_ml("SVMClassifier", 1, {x}, with(machines, "vectors_per_class", Ints{1, -2, 1}), 2),
               Error);
  EXPECT_THROW(run_ml("SVMClassifier", 1, {x}, with(machines, "prob_a", Floats{1, 2, 3}), 2), Error);
}

TEST(SVMClassifier, PairsBecomeProbabilities) {
  const AttributeList machines = {{"classlabels_strings", Strings{"a", "b"}},
                                  {"vectors_per_class", Ints{1, 1}},
                                  {"support_vectors", Floats{1, 0}},
                                  {"coefficients", Floats{2, 0}},
                                  {"rho", Floats{-1}}};
  const Tensor x = Tensor::from<double>({2, 1}, Doubles{1, 0});
  const auto raw = run_ml("SVMClassifier", 1, {x}, machines, 2);
  EXPECT_EQ(words(raw[0]), (Strings{"a", "b"}));
  expect_values(raw[1], {-1, 1, 1, -1});
  const auto y =
      run_ml("SVMClassifier", 1, {x}, with(with(machines, "prob_a", Floats{-1}), "prob_b", Floats{0.5}), 2);
  EXPECT_EQ(words(y[0]), (Strings{"a", "b"}));
  // libsvm's iteration ends when it is as near as 0.0025.
  expect_values(y[1], {logistic(0.5), logistic(-0.5), logistic(-1.5), logistic(1.5)}, 0.005);
  EXPECT_NEAR(y[1].data<double>()[0] + y[1].data<double>()[1], 1, 1e-12);
}

TEST(SVMClassifier, WithoutSupportVectorsEveryClassHasALinearScore) {
  const AttributeList planes = {{"classlabels_ints", Ints{4, 5, 6}},
                                {"coefficients", Floats{1, 0, -1}},
                                {"rho", Floats{0.5}},
                                {"kernel_type", std::string("RBF")}};
  const auto y = run_ml("SVMClassifier", 1, {Tensor::from<double>({2, 1}, Doubles{2, -2})}, planes, 2);
  EXPECT_EQ(y[0].to_int64(), (Ints{4, 6}));
  expect_values(y[1], {2.5, 0.5, -1.5, -1.5, 0.5, 2.5});
}

/// Numbers without a pattern.
Floats scattered(size_t n, float scale) {
  Floats out;
  for (size_t i = 0; i < n; ++i) out.push_back(scale * std::sin(static_cast<float>(i * i + 3 * i + 1)));
  return out;
}

TEST(SVMRegressor, BoundHoldsInFloat32AndIsNotLoose) {
  const Floats vectors = scattered(40, 2), coefficients = scattered(10, 5), x = scattered(400, 1.5F);
  const AttributeList machine = {{"support_vectors", vectors},          {"coefficients", coefficients},
                                 {"n_supports", int64_t{10}},           {"kernel_type", std::string("RBF")},
                                 {"kernel_params", Floats{0.3F, 0, 0}}, {"rho", Floats{0.7F}}};
  const Tensor input = Tensor::from<float>({100, 4}, x);
  const Tensor exact = run_ml("SVMRegressor", 1, {input}, machine)[0];
  const Tensor bound = bound_ml("SVMRegressor", 1, {input}, machine, 1, 0);
  for (size_t r = 0; r < 100; ++r) {
    float sum = 0;
    for (size_t v = 0; v < 10; ++v) {
      float distance = 0;
      for (size_t f = 0; f < 4; ++f) {
        const float d = x[r * 4 + f] - vectors[v * 4 + f];
        distance += d * d;
      }
      sum += coefficients[v] * std::exp(-0.3F * distance);
    }
    const double error = std::fabs(static_cast<double>(sum + 0.7F) - exact.data<double>()[r]);
    EXPECT_LE(error, bound.data<double>()[r]);
    EXPECT_LE(bound.data<double>()[r], 1e-4);
  }
}

}  // namespace
}  // namespace assay::scores_test
