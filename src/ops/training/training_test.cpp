#include <gtest/gtest.h>

#include <cmath>

#include "ops/op_test_util.h"

namespace assay::training_test {
namespace {

constexpr std::string_view kDomain = "ai.onnx.preview.training";
using Doubles = std::vector<double>;

Tensor numbers(const Doubles& v) { return Tensor::vector(v); }
std::vector<Tensor> step(double rate, int64_t count, std::vector<Tensor> variables) {
  variables.insert(variables.begin(), {Tensor::scalar(rate), Tensor::scalar(count)});
  return variables;
}
std::vector<Tensor> run(std::string_view op, std::vector<Tensor> inputs, AttributeList attributes,
                        size_t outputs) {
  return run_op(op, 1, std::move(inputs), std::move(attributes), outputs, kDomain);
}
void expect_near(const Tensor& t, const Doubles& wanted) {
  ASSERT_EQ(static_cast<size_t>(t.numel()), wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(t.data<double>()[i], wanted[i], 1e-12);
}

TEST(Adagrad, DividesByTheRootOfAllSquares) {
  const AttributeList attributes = {{"decay_factor", 0.5F}, {"epsilon", 0.25F}, {"norm_coefficient", 0.5F}};
  // Gradients 0.5 x + g are 4 and 3; squares before 9 and 16.
  const auto y =
      run("Adagrad", step(2, 2, {numbers({2, 4}), numbers({3, 1}), numbers({9, 16})}), attributes, 2);
  expect_near(y[0], {2 - 4 / 5.25, 4 - 3 / 5.25});
  expect_near(y[1], {25, 25});
}

TEST(Adam, CorrectsTheAveragesAndDecaysAfterwards) {
  const AttributeList attributes = {
      {"alpha", 0.5F}, {"beta", 0.75F}, {"epsilon", 0.25F}, {"norm_coefficient_post", 0.125F}};
  const auto inputs = [](int64_t count) {
    return step(2, count, {numbers({3}), numbers({4}), numbers({2}), numbers({7})});
  };
  const double average = 3, squares = 0.75 * 7 + 0.25 * 16, root = std::sqrt(squares) + 0.25;
  const auto first = run("Adam", inputs(0), attributes, 3);
  expect_near(first[0], {0.875 * (3 - 2 * average / root)});
  expect_near(first[1], {average});
  expect_near(first[2], {squares});
  const double rate = 2 * std::sqrt(1 - 0.75 * 0.75) / (1 - 0.25);
  expect_near(run("Adam", inputs(2), attributes, 3)[0], {0.875 * (3 - rate * average / root)});
}

TEST(Momentum, StandardAndNesterov) {
  const AttributeList standard = {
      {"alpha", 0.5F}, {"beta", 0.25F}, {"norm_coefficient", 0.0F}, {"mode", std::string("standard")}};
  const auto inputs = [](int64_t count) {
    return step(0.5, count, {numbers({1}), numbers({4}), numbers({2})});
  };
  const auto later = run("Momentum", inputs(1), standard, 2);
  expect_near(later[0], {1 - 0.5 * 2});
  expect_near(later[1], {2});
  expect_near(run("Momentum", inputs(0), standard, 2)[1], {5});  // beta is 1 at first
  AttributeList nesterov = standard;
  nesterov[3].second = std::string("nesterov");
  expect_near(run("Momentum", inputs(1), nesterov, 2)[0], {1 - 0.5 * (4 + 0.5 * 2)});
  nesterov[3].second = std::string("Nesterov");
  EXPECT_THROW(run("Momentum", inputs(1), nesterov, 2), Error);
}

TEST(Optimizers, UpdateSeveralVariablesOfTheirOwnShapes) {
  const AttributeList attributes = {{"epsilon", 0.0F}};
  const auto y =
      run("Adagrad",
          step(1, 0,
               {numbers({1}), numbers({2, 3}), numbers({1}), numbers({1, 1}), numbers({0}), numbers({0, 3})}),
          attributes, 4);
  expect_near(y[0], {0});
  expect_near(y[1], {1, 2.5});
  expect_near(y[2], {1});
  expect_near(y[3], {1, 4});
  const InferResult r =
      infer_op("Adagrad", 1,
               {Type::tensor(DType::kFloat64, Dims()), Type::tensor(DType::kInt64, Dims()),
                Type::tensor(DType::kFloat32, Dims{Dim(1)}), Type::tensor(DType::kFloat64, Dims{Dim(2)}),
                Type(), Type(), Type(), Type::tensor(DType::kFloat64, Dims{Dim(2)})},
               {}, 4, kDomain);
  EXPECT_EQ(r.types[0].str(), "float32[1]");
  EXPECT_EQ(r.types[1].str(), "float64[2]");
  EXPECT_EQ(r.types[3].str(), "float64[2]");
}

TEST(Optimizers, RejectInputsThatDoNotFit) {
  EXPECT_THROW(run("Adagrad", step(1, 0, {numbers({1}), numbers({1})}), {}, 1), Error);
  EXPECT_THROW(run("Adagrad", step(1, 0, {}), {}, 1), Error);
  EXPECT_THROW(run("Adagrad", step(1, 0, {numbers({1}), numbers({1}), numbers({1})}), {}, 3), Error);
  EXPECT_THROW(run("Adagrad", step(1, 0, {numbers({1}), numbers({1, 2}), numbers({1})}), {}, 2), Error);
  EXPECT_THROW(
      run("Adagrad", {numbers({1, 2}), Tensor::scalar(int64_t{0}), numbers({1}), numbers({1}), numbers({1})},
          {}, 2),
      Error);
}

TEST(Gradient, IsInferredButNotEvaluated) {
  const AttributeList attributes = {
      {"xs", std::vector<std::string>{"a"}}, {"y", std::string("c")}, {"zs", std::vector<std::string>{"b"}}};
  const std::vector<InferInput> inputs = {Type::tensor(DType::kFloat32, Dims{Dim(3)}),
                                          Type::tensor(DType::kInt64)};
  EXPECT_EQ(infer_op("Gradient", 1, inputs, attributes, 1, kDomain).str(), "float32[3]");
  EXPECT_THROW(infer_op("Gradient", 1, {inputs[0]}, attributes, 1, kDomain), Error);
  EXPECT_THROW(infer_op("Gradient", 1, inputs, attributes, 2, kDomain), Error);
  EXPECT_EQ(built_in_ops().find(kDomain, "Gradient")->versions[0].eval, nullptr);
}

}  // namespace
}  // namespace assay::training_test
