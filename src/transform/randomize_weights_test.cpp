#include "transform/randomize_weights.h"

#include <gtest/gtest.h>

#include <cmath>

namespace assay::randomize_weights_test {
namespace {

class RandomizeWeights : public testing::Test {
 protected:
  RandomizeWeights() { model.opsets = {{"", 17}}; }
  Value* constant(const std::string& name, Shape shape, float value) {
    Tensor t = Tensor::allocate(DType::kFloat32, std::move(shape));
    for (float& x : t.mutable_span<float>()) x = value;
    return model.graph->add_constant(name, std::move(t));
  }
  double deviation(const char* name) {
    const Tensor t = model.graph->find_value(name)->tensor().aligned();
    double sum = 0;
    for (const float x : t.span<float>()) sum += static_cast<double>(x) * x;
    return std::sqrt(sum / static_cast<double>(t.numel()));
  }
  Model model;
};

TEST_F(RandomizeWeights, KeepsTheScaleThroughRectifiedAndLinearLayers) {
  Graph& g = *model.graph;
  Value* x = g.add_input("x", Type::tensor(DType::kFloat32, Dims{Dim(1), Dim(64), Dim(8), Dim(8)}));
  Value *a = g.add_value("a"), *b = g.add_value("b"), *c = g.add_value("c"), *d = g.add_value("d");
  g.add_node("Conv", {x, constant("first", {64, 64, 3, 3}, 0.5F)}, {a});
  g.add_node("Conv", {a, constant("after_linear", {64, 64, 3, 3}, 0.5F)}, {b});
  g.add_node("Relu", {b}, {c});
  g.add_node("Conv", {c, constant("after_relu", {64, 64, 3, 3}, 0.5F)}, {d});
  g.outputs = {d};
  EXPECT_EQ(randomize_weights(model, 1), 3);
  const double fan = 64 * 9;
  EXPECT_NEAR(deviation("first"), std::sqrt(2 / fan), 0.01 * std::sqrt(2 / fan));
  EXPECT_NEAR(deviation("after_linear"), std::sqrt(1 / fan), 0.01 * std::sqrt(1 / fan));
  EXPECT_NEAR(deviation("after_relu"), std::sqrt(2 / fan), 0.01 * std::sqrt(2 / fan));
}

TEST_F(RandomizeWeights, LeavesRealWeightsAndOtherConstantsAlone) {
  Graph& g = *model.graph;
  Value* x = g.add_input("x", Type::tensor(DType::kFloat32, Dims{Dim(1), Dim(2)}));
  Value* real = g.add_constant("real", Tensor::from<float>(Shape{2, 2}, std::vector<float>{1, 2, 3, 4}));
  Value *a = g.add_value("a"), *b = g.add_value("b");
  g.add_node("MatMul", {x, real}, {a});
  g.add_node("Max", {a, constant("limit", {2}, 3)}, {b});
  g.outputs = {b};
  EXPECT_EQ(randomize_weights(model, 1), 0);
  EXPECT_EQ(real->tensor().aligned().data<float>()[3], 4);
}

TEST_F(RandomizeWeights, SameSeedSameWeights) {
  Model other;
  for (Model* m : {&model, &other}) {
    Tensor t = Tensor::zeros(DType::kFloat32, Shape{16, 16});
    Value* x = m->graph->add_input("x", Type::tensor(DType::kFloat32, Dims{Dim(1), Dim(16)}));
    Value* y = m->graph->add_value("y");
    m->graph->add_node("MatMul", {x, m->graph->add_constant("w", std::move(t))}, {y});
    m->graph->outputs = {y};
    EXPECT_EQ(randomize_weights(*m, 7), 1);
  }
  EXPECT_TRUE(model.graph->find_value("w")->tensor().identical(other.graph->find_value("w")->tensor()));
  EXPECT_GT(deviation("w"), 0);
}

}  // namespace
}  // namespace assay::randomize_weights_test
