#include "assay/quantize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "assay/edit.h"
#include "assay/error.h"
#include "graph/import.h"

namespace assay::poly::quantize_test {
namespace {

Tensor drawn(const Shape& shape, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  Tensor t = Tensor::allocate(DType::kFloat32, shape);
  for (int64_t i = 0; i < t.numel(); ++i) t.mutable_data<float>()[i] = normal(random);
  return t;
}

/// Two products with constant weights.
std::shared_ptr<Model> products() {
  const std::shared_ptr<Model> m = parse_text(
      "<ir_version: 10, opset_import: [\"\" : 21]>\ng (float[2,32] x, float[32,32] v, float[32,32] w) => "
      "(float[2,32] y) {\na = MatMul (x, v) b = Relu (a) y = MatMul (b, w)\n}\n",
      "test");
  for (const char* name : {"v", "w"}) {
    m->graph->find_value(name)->set_tensor(drawn(Shape({32, 32}), name[0]));
    std::erase_if(m->graph->inputs, [&](const Value* v) { return v->name() == name; });
  }
  return m;
}

RunData data() {
  return {.source = data_source(
              std::vector<FeedDict>{{{"x", drawn(Shape({2, 32}), 1)}}, {{"x", drawn(Shape({2, 32}), 2)}}})};
}

int64_t count(const Model& m, const std::string& op_type) {
  const auto& nodes = m.graph->nodes();
  return std::count_if(nodes.begin(), nodes.end(), [&](const auto& n) { return n->op_type == op_type; });
}

TEST(QuantizeModel, InEightBits) {
  const std::shared_ptr<Model> m = products();
  const Quantized made = quantize_model(Runtime(), m, {.data = data()});
  EXPECT_EQ(count(*made.model, "QuantizeLinear"), 2);
  EXPECT_EQ(count(*m, "QuantizeLinear"), 0);
  EXPECT_TRUE(made.cost.empty());
  EXPECT_NE(made.summary, "");
}

TEST(QuantizeModel, HoldsBackWhatAnAccuracyNeeds) {
  QuantizeSettings settings{.data = data(), .accuracy = "200dB"};
  settings.engine.config.optimization_level = 0;
  std::vector<std::string> progress;
  settings.on_progress = [&](const std::string& what) { progress.push_back(what); };
  const Quantized made = quantize_model(Runtime(), products(), settings);
  EXPECT_EQ(count(*made.model, "QuantizeLinear"), 0);
  EXPECT_NE(made.cost.find("\"target\": \"200dB\""), std::string::npos) << made.cost;
  EXPECT_FALSE(made.scales.empty());
  EXPECT_FALSE(progress.empty());
  settings.accuracy = "200";
  EXPECT_THROW(quantize_model(Runtime(), products(), settings), Error);
}

TEST(QuantizeWeights, InBothFormats) {
  const NarrowWeights plain = quantize_weights(products()),
                      narrow = quantize_weights(products(), {.block = 16, .uses_matmul_nbits = true});
  EXPECT_EQ(plain.quantized, 2);
  EXPECT_EQ(count(*plain.model, "DequantizeLinear"), 2);
  EXPECT_EQ(count(*narrow.model, "MatMulNBits"), 2);
  EXPECT_THROW(quantize_weights(products(), {.block = 17}), Error);
}

TEST(QuantizeWeights, WhatIsNamedStays) {
  const std::shared_ptr<Model> m = products();
  m->graph->nodes()[0]->name = "first";
  const NarrowWeights made = quantize_weights(m, {.float_nodes = {"first"}});
  EXPECT_EQ(made.quantized, 1);
  ASSERT_EQ(made.kept.size(), 1U);
  EXPECT_EQ(made.kept[0].node, "'first' (MatMul)");
  EXPECT_THROW(quantize_weights(m, {.float_nodes = {"no such node"}}), Error);
}

}  // namespace
}  // namespace assay::poly::quantize_test
