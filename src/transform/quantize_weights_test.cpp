// Weights in 4 bits: both formats hold the same numbers, near those that were.
#include "transform/quantize_weights.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "analysis/match.h"
#include "graph/clone.h"
#include "ops/infer.h"
#include "passes/pass_manager.h"
#include "reference/interpreter.h"

namespace assay::quantize_weights_test {
namespace {

struct QuantizeWeights : testing::Test {
  QuantizeWeights() { model->opsets = {{"", 17}}; }

  Tensor numbers(const Shape& shape) {
    std::normal_distribution<float> draw;
    Tensor t = Tensor::allocate(DType::kFloat32, shape);
    for (float& x : t.mutable_span<float>()) x = draw(random);
    return t;
  }
  Value* input(const char* name, const Shape& shape) {
    feed.push_back(numbers(shape));
    return g.add_input(name, Type::tensor(DType::kFloat32, shape));
  }
  Value* node(const char* op, std::vector<Value*> inputs, const char* output, AttributeList attributes = {}) {
    Value* y = g.add_value(output);
    g.add_node(op, std::move(inputs), {y}, std::move(attributes), output + std::string("_node"));
    g.outputs.push_back(y);
    return y;
  }
  Value* weights(const char* name, const Shape& shape) { return g.add_constant(name, numbers(shape)); }

  std::vector<Tensor> evaluate(const std::shared_ptr<Model>& m) const {
    infer_shapes(*m);
    Interpreter interpreter(m, {.precision = ReferencePrecision::kStored});
    std::vector<Tensor> results(m->graph->outputs.size());
    interpreter.run(feed, [&](const Value& v, std::span<const Tensor> lanes) {
      for (size_t i = 0; i < results.size(); ++i)
        if (m->graph->outputs[i] == &v) results[i] = lanes[0];
    });
    return results;
  }
  std::shared_ptr<Model> narrow(const WeightQuantizeOptions& options, QuantizeReport& report) {
    infer_shapes(*model);
    std::shared_ptr<Model> made = clone_model(*model);
    report = quantize_weights(*made, options);
    verify_graph(*made->graph);
    return made;
  }
  static int64_t count(const Model& m, std::string_view op) {
    return std::count_if(m.graph->nodes().begin(), m.graph->nodes().end(),
                         [&](const auto& n) { return n->op_type == op; });
  }

  std::mt19937 random{3};
  std::shared_ptr<Model> model = std::make_shared<Model>();
  Graph& g = *model->graph;
  std::vector<Tensor> feed;
};

/// Depths that blocks divide and do not, that are odd, or shorter than a block; columns that are odd.
TEST_F(QuantizeWeights, BothFormatsHoldTheSameNumbers) {
  for (const int64_t depth : {1, 7, 16, 33, 64, 100}) {
    const auto d = std::to_string(depth);
    Value* x = input(("x" + d).c_str(), {3, depth});
    Value* w = weights(("w" + d).c_str(), {depth, 5});
    node("MatMul", {x, w}, ("plain" + d).c_str());
    node("MatMul", {x, w}, ("again" + d).c_str());
    node("Gemm", {x, w, weights(("b" + d).c_str(), {5})}, ("gemm" + d).c_str());
    node("Gemm", {x, weights(("t" + d).c_str(), {9, depth})}, ("turned" + d).c_str(),
         {{"transB", int64_t{1}}});
  }
  const std::vector<Tensor> exact = evaluate(model);
  for (const int64_t block : {16, 32, 64}) {
    QuantizeReport one, two;
    const auto dequantized = narrow({.block = block}, one);
    const auto nbits = narrow({.format = WeightFormat::kMatMulNBits, .block = block}, two);
    EXPECT_EQ(one.quantized, 24);
    EXPECT_EQ(two.quantized, 24);
    EXPECT_EQ(count(*dequantized, "DequantizeLinear"), 12);  // shared weights once
    EXPECT_EQ(count(*nbits, "MatMulNBits"), 24);
    EXPECT_EQ(count(*nbits, "MatMul") + count(*nbits, "Gemm"), 0);
    const std::vector<Tensor> a = evaluate(dequantized), b = evaluate(nbits);
    double signal = 0, noise = 0;
    for (size_t i = 0; i < exact.size(); ++i)
      for (int64_t k = 0; k < exact[i].numel(); ++k) {
        const double right = exact[i].data<float>()[k];
        ASSERT_NEAR(a[i].data<float>()[k], b[i].data<float>()[k], 1e-5 * (1 + std::abs(right)));
        signal += right * right;
        noise += std::pow(a[i].data<float>()[k] - right, 2);
      }
    EXPECT_GT(signal, noise * 80);  // 19 dB
    EXPECT_GT(noise, 0);
  }
}

TEST_F(QuantizeWeights, WhatStaysSaysWhy) {
  Value* x = input("x", {4, 32});
  node("MatMul", {x, weights("w", {32, 8})}, "held");
  node("MatMul", {x, weights("v", {32, 8})}, "taken");
  node("MatMul", {x, input("y", {32, 8})}, "both");
  node("Gemm", {x, weights("a", {32, 8})}, "scaled", {{"alpha", 2.0F}});
  node("Conv", {input("c", {1, 4, 8, 8}), weights("k", {4, 4, 3, 3})}, "conv");
  Tensor bad = numbers({32, 8});
  bad.mutable_data<float>()[3] = std::numeric_limits<float>::infinity();
  node("MatMul", {x, g.add_constant("bad", bad)}, "infinite");
  QuantizeReport report;
  const auto made = narrow({.format = WeightFormat::kMatMulNBits, .float_nodes = {"held_node"}}, report);
  EXPECT_EQ(report.quantized, 1);
  ASSERT_EQ(report.kept.size(), 4U);
  for (const char* reason : {"it was to stay in float32", "it has a factor",
                             "4 bits are for the weights of MatMul", "its weights hold infinity"})
    EXPECT_TRUE(std::any_of(report.kept.begin(), report.kept.end(), [&](const QuantizeReport::Kept& k) {
      return k.reason.find(reason) != std::string::npos;
    })) << reason;
  EXPECT_EQ(made->opset("com.microsoft"), 1);
  for (const int64_t block : {0, 8, 24, 8192}) EXPECT_THROW(narrow({.block = block}, report), Error) << block;
}

/// A head whose matrix is that of the embedding, behind a Transpose or as a Gemm has it.
TEST_F(QuantizeWeights, AHeadSharesItsMatrixWithTheEmbedding) {
  Value* table = weights("table", {50, 64});
  const auto rows = [&](const char* name) {
    return node("Gather",
                {table, g.add_constant(std::string(name) + "_ids", Tensor::from<int64_t>({3}, {0, 7, 49}))},
                name);
  };
  Value* h = rows("embedded");
  node("MatMul", {h, node("Transpose", {table}, "turned")}, "logits");
  Value* other = g.add_value("hidden");
  g.add_node("Transpose", {table}, {other}, {{"perm", std::vector<int64_t>{1, 0}}}, "hidden_node");
  node("MatMul", {h, other}, "again");
  node("Gemm", {h, table}, "gemm", {{"transB", int64_t{1}}});
  rows("held");
  const std::vector<Tensor> exact = evaluate(model);
  QuantizeReport report, nbits;
  const auto made = narrow({.float_nodes = {"held_node"}}, report);
  EXPECT_EQ(report.quantized, 3);
  EXPECT_EQ(count(*made, "DequantizeLinear"), 1);
  EXPECT_EQ(count(*made, "Transpose"), 2);  // one is an output of its own
  const auto products = narrow({.format = WeightFormat::kMatMulNBits}, nbits);
  EXPECT_EQ(nbits.quantized, 3);
  EXPECT_EQ(count(*products, "MatMulNBits"), 3);
  const auto shared = narrow(
      {.format = WeightFormat::kMatMulNBits, .shares_embeddings = true, .float_nodes = {"held_node"}}, nbits);
  EXPECT_EQ(nbits.quantized, 3);
  EXPECT_EQ(count(*shared, "GatherBlockQuantized"), 1);
  const std::vector<Tensor> y = evaluate(made), z = evaluate(products), same = evaluate(shared);
  for (size_t i = 0; i < exact.size(); ++i) {
    const bool is_held =
        made->graph->outputs[i]->name() == "held" || made->graph->outputs[i]->name() == "turned";
    double signal = 0, noise = 0, between = 0;
    for (int64_t k = 0; k < exact[i].numel(); ++k) {
      const double right = exact[i].data<float>()[k];
      signal += right * right;
      noise += std::pow(y[i].data<float>()[k] - right, 2);
      between += std::pow(z[i].data<float>()[k] - right, 2);
    }
    EXPECT_EQ(noise == 0, is_held) << i;
    for (int64_t k = 0; k < exact[i].numel(); ++k)
      EXPECT_NEAR(same[i].data<float>()[k], y[i].data<float>()[k], 1e-4) << i;
    EXPECT_GT(signal, noise * 40) << i;
    EXPECT_GT(signal, between * 80) << i;
  }
}

TEST_F(QuantizeWeights, BlocksDivideWhereTheyCan) {
  for (const int64_t depth : {64, 48, 100}) {
    const std::string d = std::to_string(depth);
    node("MatMul", {input(("x" + d).c_str(), {2, depth}), weights(("w" + d).c_str(), {depth, 3})},
         ("y" + d).c_str());
  }
  for (const WeightFormat format : {WeightFormat::kDequantizeLinear, WeightFormat::kMatMulNBits}) {
    QuantizeReport report;
    std::vector<int64_t> blocks;
    const auto made = narrow({.format = format}, report);
    for (const auto& n : made->graph->nodes())
      if (n->find_attribute("block_size") != nullptr) blocks.push_back(int_attribute(*n, "block_size", 0));
    EXPECT_EQ(blocks, (std::vector<int64_t>{32, 16, 32}));
  }
}

TEST_F(QuantizeWeights, ZerosAndTinyNumbersStay) {
  Tensor w = Tensor::zeros(DType::kFloat32, {32, 2});
  for (int64_t k = 0; k < 32; ++k) w.mutable_data<float>()[2 * k + 1] = k % 2 == 0 ? 1e-42F : 0;
  node("MatMul", {input("x", {1, 32}), g.add_constant("w", w)}, "y");
  QuantizeReport report;
  const std::vector<Tensor> y = evaluate(narrow({}, report));
  EXPECT_EQ(y[0].data<float>()[0], 0);
  EXPECT_NEAR(y[0].data<float>()[1], 0, 1e-38);
}

}  // namespace
}  // namespace assay::quantize_weights_test
