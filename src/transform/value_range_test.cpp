#include "transform/value_range.h"

#include <gtest/gtest.h>

#include <cmath>

#include "graph/import.h"
#include "ops/infer.h"

namespace assay::value_range_test {
namespace {

NumberRange range_of(const std::string& nodes, const std::string& opset = "20") {
  const auto model = parse_text("<ir_version: 9, opset_import: [\"\" : " + opset +
                                    "]> g (float[1,4,8,8] x, float[1,4,1,1] z) => (y) "
                                    "<float two = {2}, float low = {-1.5}> { " +
                                    nodes + " }",
                                "test");
  infer_shapes(*model);
  std::vector<const Node*> all;
  for (const auto& n : model->graph->nodes()) all.push_back(n.get());
  const FunctionSources sources(*model, all);
  return ValueRanges(*model, sources).of(*model->graph->outputs[0]);
}

TEST(ValueRanges, FunctionsOfOneValue) {
  EXPECT_EQ(range_of("y = Relu (x)").low, 0);
  EXPECT_TRUE(std::isinf(range_of("y = Relu (x)").high));
  EXPECT_NEAR(range_of("s = Sigmoid (x) y = Mul (x, s)").low, -0.2785, 1e-3);
  EXPECT_NEAR(range_of("y = HardSwish (x)").low, -0.375, 1e-6);
  const NumberRange gate = range_of("y = HardSigmoid (x)");
  EXPECT_EQ(gate.low, 0);
  EXPECT_EQ(gate.high, 1);
  EXPECT_EQ(range_of("y = Clip (x, low)").low, -1.5);
  EXPECT_EQ(range_of("a = Relu (x) y = Mul (two, a)").low, 0);
}

TEST(ValueRanges, WhatHasNoBound) {
  EXPECT_TRUE(std::isinf(range_of("y = Identity (x)").low));
  EXPECT_TRUE(std::isinf(range_of("y = LeakyRelu (x)").low));
  EXPECT_TRUE(std::isinf(range_of("y = Neg (x)").high));
  EXPECT_TRUE(std::isinf(range_of("a = Relu (x) y = Sub (a, z)").low));
}

TEST(ValueRanges, OfOperands) {
  EXPECT_EQ(range_of("a = Relu (x) y = GlobalAveragePool (a)").low, 0);
  EXPECT_EQ(range_of("a = Relu (x) y = MaxPool <kernel_shape = [2, 2]> (a)").low, 0);
  EXPECT_NEAR(range_of("a = HardSwish (x) b = HardSwish (z) y = Add (a, b)").low, -0.75, 1e-6);
  EXPECT_NEAR(range_of("a = HardSwish (x) b = Sigmoid (z) y = Mul (a, b)").low, -0.375, 1e-6);
  EXPECT_NEAR(range_of("a = HardSwish (x) b = Relu (x) y = Concat <axis = 1> (b, a)").low, -0.375, 1e-6);
  EXPECT_TRUE(std::isinf(range_of("a = Relu (x) y = Concat <axis = 1> (x, a)").low));
}

}  // namespace
}  // namespace assay::value_range_test
