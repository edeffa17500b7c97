// Convolutions and products of 8-bit integers. Scales are powers of two, so the float64 reference and the
// engine must agree exactly: every sum and every quotient is exact in both.
#include "assay/builder.h"
#include "assay/runtime.h"
#include "backends/engine_fixture.h"

namespace assay::engine_int8_test {
namespace {

class EngineInt8Test : public EngineTest {
 protected:
  Tensor bytes(DType dtype, const Shape& shape, int low, int high) {
    Tensor t = Tensor::allocate(dtype, shape);
    std::uniform_int_distribution<int> uniform(low, high);
    for (int64_t i = 0; i < t.numel(); ++i)
      static_cast<char*>(t.mutable_data())[i] = static_cast<char>(uniform(random_));
    return t;
  }
  Tensor zero_points(DType dtype, const std::vector<int>& numbers, const Shape& shape) {
    Tensor t = Tensor::allocate(dtype, shape);
    for (size_t i = 0; i < numbers.size(); ++i)
      static_cast<char*>(t.mutable_data())[i] = static_cast<char>(numbers[i]);
    return t;
  }
  Value* constant(const Tensor& t) { return g.add_constant(g.unique_name("c"), t); }
  Value* quantize(Value* x, float scale, int zero_point, DType dtype = DType::kUInt8) {
    return op("QuantizeLinear", {x, scalar(scale), constant(zero_points(dtype, {zero_point}, Shape{}))});
  }
  Value* dequantize(Value* x, float scale, int zero_point, DType dtype = DType::kUInt8) {
    return op("DequantizeLinear", {x, scalar(scale), constant(zero_points(dtype, {zero_point}, Shape{}))});
  }
  /// An input of values that uint8 represents exactly, as from DequantizeLinear.
  Value* stored(const std::string& name, const Shape& shape, float scale = 0.25F, int zero_point = 100) {
    Value* x = input(name, shape);
    for (float& v : feed.back().mutable_span<float>()) v = std::nearbyint(v * 40) * scale;
    return dequantize(quantize(x, scale, zero_point), scale, zero_point);
  }
  /// int8 weights with a scale for each index of an axis.
  Value* weights(const Shape& shape, int64_t axis = 0) {
    const int64_t count = shape[static_cast<size_t>(axis)];
    Tensor scale = Tensor::allocate(DType::kFloat32, Shape{count});
    for (int64_t i = 0; i < count; ++i) scale.mutable_data<float>()[i] = i % 2 == 0 ? 0.125F : 0.0625F;
    const Tensor zero = Tensor::zeros(DType::kInt8, Shape{count});
    return op("DequantizeLinear",
              {constant(bytes(DType::kInt8, shape, -127, 127)), constant(scale), constant(zero)},
              {{"axis", axis}});
  }
  Value* bias(int64_t count) {
    Tensor t = random(Shape{count}, -8, 8);
    for (float& v : t.mutable_span<float>()) v = std::nearbyint(v);
    return constant(t);
  }

  /// Builds without competing tactics, and compares the plan's results, before and after it was saved, with
  /// the reference; also with the cost model's choice. `wanted` steps of each name must be in the plan, and
  /// none of the reference evaluator.
  void expect_int8(const std::multiset<std::string>& wanted) {
    expect_agreement();
    const std::vector<Tensor> reference = exact();
    const Runtime runtime({.threads = 2});
    const BuilderConfig config{
        .optimization_level = 0,
        .disabled_tactics = {"dnnl_conv", "dnnl_matmul", "gemv", "group_conv", "narrow_group_conv",
                             "depthwise_conv1d", "panel_conv", "panel_matmul", "winograd_conv"}};
    const std::string plan = Builder(runtime).build_serialized_network(model, config);
    const auto engine = runtime.deserialize_engine(plan);
    const std::vector<Tensor> y = engine->create_execution_context()->infer(feed);
    for (size_t i = 0; i < y.size(); ++i) expect_near(y[i], reference[i], g.outputs[i]->name());
    engine::BuildConfig built = engine::default_config(2);
    built.tactics.disabled = {config.disabled_tactics.begin(), config.disabled_tactics.end()};
    std::vector<Shape> shapes;
    for (const Tensor& t : feed) shapes.push_back(t.shape());
    std::multiset<std::string> got;
    const auto made = engine::PlanBuilder(*model, built).build(shapes);
    for (const engine::Step& s : made->steps) got.insert(s.tactic);
    for (const std::string& name : wanted) EXPECT_EQ(got.count(name), wanted.count(name)) << name;
    EXPECT_EQ(got.count("evaluate"), 0U);
  }

 private:
  std::mt19937 random_{11};
};

TEST_F(EngineInt8Test, ConvolutionsOfEveryKindEndIn8Bits) {
  const auto conv = [&](const Shape& in, const Shape& w, AttributeList attributes) {
    Value* x = stored("x" + std::to_string(feed.size()), in);
    Value* y = op("Conv", {x, weights(w), bias(w[0])}, std::move(attributes));
    output(quantize(op("Relu", {y}), 64, 3));
  };
  using Ints = std::vector<int64_t>;
  conv({2, 3, 9, 11}, {20, 3, 3, 3}, {{"pads", Ints{1, 1, 1, 1}}, {"strides", Ints{2, 1}}});
  conv({1, 16, 6, 5}, {33, 16, 1, 1}, {});
  conv({1, 5, 7, 8}, {4, 5, 2, 3}, {{"dilations", Ints{2, 2}}, {"pads", Ints{0, 2, 3, 1}}});
  conv({2, 7, 13}, {18, 7, 5}, {{"pads", Ints{4, 0}}});
  conv({1, 4, 3, 4, 5}, {6, 4, 2, 2, 3}, {{"pads", Ints{1, 0, 1, 0, 1, 1}}});
  expect_int8({"int8_conv", "int8_conv", "int8_conv", "int8_conv", "int8_conv"});
}

TEST_F(EngineInt8Test, EveryChannelOnItsOwn) {
  Value* x = stored("x", {2, 19, 8, 9});
  Value* y = op("Conv", {x, weights({19, 1, 3, 3}), bias(19)},
                {{"group", int64_t{19}},
                 {"pads", std::vector<int64_t>{1, 1, 1, 1}},
                 {"strides", std::vector<int64_t>{2, 2}}});
  output(quantize(op("Clip", {y, scalar(0), scalar(6)}), 0.5F, 0));
  expect_int8({"int8_conv"});
}

TEST_F(EngineInt8Test, GroupsOfSeveralChannels) {
  Value* x = stored("x", {2, 12, 7, 6});
  Value* y = op("Conv", {x, weights({18, 6, 3, 3}), bias(18)},
                {{"group", int64_t{2}}, {"pads", std::vector<int64_t>{1, 1, 1, 1}}});
  output(quantize(op("Relu", {y}), 64, 3));
  expect_int8({"int8_conv"});
}

TEST_F(EngineInt8Test, WeightsWithAZeroPointTakeNineBits) {
  Value* x = stored("x", {1, 24, 5, 5});
  Value* w = op("DequantizeLinear", {constant(bytes(DType::kUInt8, {8, 24, 3, 3}, 0, 255)), scalar(0.5F),
                                     constant(zero_points(DType::kUInt8, {9}, Shape{}))});
  output(op("Conv", {x, w}));
  expect_int8({"int8_conv"});
}

TEST_F(EngineInt8Test, AResidualIsReadAsItIsStored) {
  Value* x = stored("x", {1, 8, 6, 6});
  Value* other = stored("other", {1, 8, 6, 6}, 0.5F, 7);
  Value* y = op("Conv", {x, weights({8, 8, 1, 1}), bias(8)});
  output(quantize(op("Relu", {op("Add", {y, other})}), 16, 128));
  // The same values for a consumer of float32.
  output(op("Relu", {other}));
  expect_int8({"int8_conv"});
}

TEST_F(EngineInt8Test, SignedActivationsAndTwoReadersOfOneValue) {
  Value* x = input("x", {1, 12, 7, 7});
  for (float& v : feed.back().mutable_span<float>()) v = std::nearbyint(v * 100) * 0.5F;
  Value* q = dequantize(quantize(x, 0.5F, -3, DType::kInt8), 0.5F, -3, DType::kInt8);
  output(quantize(op("Conv", {q, weights({5, 12, 3, 3})}), 128, -1, DType::kInt8));
  output(op("Conv", {q, weights({5, 12, 1, 1}), bias(5)}));
  output(q);
  expect_int8({"int8_conv", "int8_conv"});
}

TEST_F(EngineInt8Test, ProductsOfEveryKind) {
  Value* x = stored("x", {7, 33});
  Value* stack = stored("stack", {2, 3, 5, 20});
  Value* one = stored("one", {1, 64});
  output(quantize(op("Gemm", {x, weights({18, 33}), bias(18)}, {{"transB", int64_t{1}}}), 64, 100));
  output(op("Gemm", {x, weights({33, 40}, 1), bias(40)}, {{"beta", 2.0F}}));
  output(op("Add", {op("MatMul", {stack, weights({20, 9}, 1)}), bias(9)}));
  output(quantize(op("Gelu", {op("MatMul", {one, weights({64, 16}, 1)})}), 64, 0));
  model->opsets = {{"", 20}};
  expect_int8({"int8_matmul", "int8_matmul", "int8_matmul", "int8_matmul"});
}

TEST_F(EngineInt8Test, PicturesInEightBitsAreJoined) {
  Value* a = quantize(input("a", {2, 3, 5, 4}), 0.0625F, 3);
  Value* b = quantize(input("b", {2, 6, 5, 4}), 0.0625F, 3);
  Value* c = op("Concat", {a, b}, {{"axis", int64_t{1}}});
  output(op("Conv", {dequantize(c, 0.0625F, 3), weights({4, 9, 2, 2})}));
  output(op("Concat", {a, a}, {{"axis", int64_t{2}}}));
  for (Tensor& t : feed)
    for (float& v : t.mutable_span<float>()) v = std::nearbyint(v * 16) * 0.0625F;
  expect_int8({"int8_conv"});
}

TEST_F(EngineInt8Test, SumsThatMayOverflowAreNotTaken) {
  Value* x = stored("x", {1, 40000});
  output(op("MatMul", {x, weights({40000, 2}, 1)}));
  infer_shapes(*model);
  EXPECT_EQ(tactics().count("int8_matmul"), 0U);
}

/// When a pass changes a constant under its old name, the stored data must not be used.
TEST_F(EngineInt8Test, WeightsThatAPassHasChangedAreNotTaken) {
  Value* x = stored("x", {1, 4, 5, 5});
  Value* y = op("Conv", {x, weights({6, 4, 1, 1})});
  Value* scale = constant(random({6}, 1, 2));
  Value* any = constant(random({6}));
  output(layer(g, "BatchNormalization", {y, scale, any, any, scale}, {"y"})[0]);
  expect_agreement();
}

}  // namespace
}  // namespace assay::engine_int8_test
