// Products of integers with quantization at run time,
// as in dynamically quantized networks, on the engine.
#include "backends/engine_fixture.h"

namespace assay::engine_integer_test {
namespace {

class EngineIntegerTest : public EngineTest {
 protected:
  void clear() {
    g.outputs.clear();
    g.remove_nodes_if([](const Node&) { return true; });
    g.inputs.clear();
    feed.clear();
  }
  /// Integers of 8 bits in the whole range of the type.
  Tensor levels(DType dtype, const Shape& shape) {
    Tensor t = Tensor::allocate(DType::kFloat32, shape);
    const float low = dtype == DType::kInt8 ? -128 : 0;
    for (float& x : t.mutable_span<float>()) x = low + static_cast<float>(random_() % 256);
    return convert(t, dtype);
  }
  Value* level_input(DType dtype, const Shape& shape) {
    Dims dims;
    for (const int64_t d : shape.dims()) dims.emplace_back(d);
    feed.push_back(levels(dtype, shape));
    return g.add_input(g.unique_name("q"), Type::tensor(dtype, dims));
  }
  void expect_equal(const std::multiset<std::string>& wanted) {
    infer_shapes(*model);
    const std::vector<Tensor> reference = exact();
    const std::unique_ptr<Session> session = open();
    for (int repeat = 0; repeat < 2; ++repeat) {
      const std::vector<Tensor> y = run(*session);
      for (size_t i = 0; i < y.size(); ++i) {
        ASSERT_EQ(y[i].dtype(), reference[i].dtype());
        ASSERT_EQ(y[i].to_int64(), reference[i].to_int64());
      }
    }
    EXPECT_EQ(computing(), wanted);
  }
  /// Tactics of the steps that do more than change a layout.
  std::multiset<std::string> computing() {
    std::multiset<std::string> names = tactics();
    names.erase("reorder");
    return names;
  }
  void product(DType left, DType right, const Shape& a, int64_t n, int zero_points, bool by_column) {
    clear();
    const int64_t k = a.back();
    std::vector<Value*> inputs = {level_input(left, a),
                                  g.add_constant(g.unique_name("w"), levels(right, {k, n}))};
    if (zero_points > 0) inputs.push_back(level_input(left, {}));
    if (zero_points > 1)
      inputs.push_back(g.add_constant(g.unique_name("z"), levels(right, by_column ? Shape{n} : Shape{})));
    output(op("MatMulInteger", inputs));
    expect_equal({"integer_matmul"});
  }
  struct Convolution {
    Shape in, weights;
    AttributeList attributes = {};
  };
  /// `zero_points`: of the data; of the weights, too; of every output channel.
  Value* convolution(DType data, DType weights, const Convolution& c, int zero_points) {
    clear();
    std::vector<Value*> inputs = {level_input(data, c.in),
                                  g.add_constant(g.unique_name("w"), levels(weights, c.weights))};
    if (zero_points > 0) inputs.push_back(level_input(data, {}));
    if (zero_points > 1)
      inputs.push_back(g.add_constant(g.unique_name("z"),
                                      levels(weights, zero_points > 2 ? Shape{c.weights[0]} : Shape{})));
    return op("ConvInteger", inputs, c.attributes);
  }
  Value* as_float(Value* sums) { return op("Cast", {sums}, {{"to", static_cast<int64_t>(DType::kFloat32)}}); }

 private:
  std::mt19937 random_{11};
};

using Ints = std::vector<int64_t>;

TEST_F(EngineIntegerTest, ProductsOfEveryTypeAndSize) {
  for (const DType left : {DType::kUInt8, DType::kInt8})
    for (const DType right : {DType::kUInt8, DType::kInt8})
      for (const Shape& a : {Shape{1, 1}, {7, 13}, {2, 3, 64}, {129, 33}, {5}})
        for (const int64_t n : {1, 15, 16, 17, 70})
          for (const int zero_points : {0, 1, 2}) product(left, right, a, n, zero_points, n % 2 == 1);
}

TEST_F(EngineIntegerTest, ProductsOnAnyNumberOfThreads) {
  for (options.threads = 1; options.threads <= 16; options.threads += 5)
    product(DType::kUInt8, DType::kInt8, {100, 77}, 90, 2, true);
}

TEST_F(EngineIntegerTest, ProductsThatAreRefused) {
  // Several zero points of the left operand; a right operand that is not constant.
  output(op("MatMulInteger",
            {level_input(DType::kUInt8, {2, 3}), g.add_constant("w", levels(DType::kInt8, {3, 2})),
             level_input(DType::kUInt8, {2})}));
  expect_equal({"evaluate"});
  clear();
  output(op("MatMulInteger", {level_input(DType::kUInt8, {2, 3}), level_input(DType::kInt8, {3, 2})}));
  expect_equal({"evaluate"});
}

TEST_F(EngineIntegerTest, ConvolutionsOfEveryTypeAndShape) {
  const std::vector<Convolution> cases = {
      {{1, 1, 1, 1}, {1, 1, 1, 1}},
      {{2, 3, 9, 11}, {20, 3, 3, 3}, {{"pads", Ints{1, 1, 1, 1}}, {"strides", Ints{2, 1}}}},
      {{1, 16, 6, 5}, {33, 16, 1, 1}},
      {{1, 5, 7, 8}, {4, 5, 2, 3}, {{"dilations", Ints{2, 2}}, {"pads", Ints{0, 2, 3, 1}}}},
      {{2, 7, 13}, {17, 7, 5}, {{"pads", Ints{4, 0}}}},
      {{1, 4, 3, 4, 5}, {6, 4, 2, 2, 3}, {{"pads", Ints{1, 0, 1, 0, 1, 1}}}},
      {{1, 3, 3, 3}, {5, 3, 5, 5}, {{"auto_pad", "SAME_UPPER"}}},
      {{2, 6, 7, 5}, {10, 3, 3, 3}, {{"group", int64_t{2}}, {"pads", Ints{1, 1, 1, 1}}}},
      {{1, 36, 5, 5}, {68, 9, 1, 2}, {{"group", int64_t{4}}, {"strides", Ints{2, 2}}}},
      {{1, 32, 6, 6}, {32, 16, 3, 3}, {{"group", int64_t{2}}}},
      {{2, 19, 8, 9},
       {19, 1, 3, 3},
       {{"group", int64_t{19}}, {"pads", Ints{1, 1, 1, 1}}, {"strides", Ints{2, 2}}}},
      {{1, 6, 9, 9}, {12, 1, 3, 3}, {{"group", int64_t{6}}, {"dilations", Ints{2, 2}}}},
  };
  for (const DType data : {DType::kUInt8, DType::kInt8})
    for (const DType weights : {DType::kUInt8, DType::kInt8})
      for (const Convolution& c : cases)
        for (const int zero_points : {0, 1, 2, 3}) {
          output(convolution(data, weights, c, zero_points));
          expect_equal({"integer_conv"});
        }
}

TEST_F(EngineIntegerTest, ConvolutionsOnAnyNumberOfThreads) {
  for (options.threads = 1; options.threads <= 16; options.threads += 5)
    for (const int64_t groups : {1, 2, 24}) {
      output(convolution(
          DType::kUInt8, DType::kInt8,
          {{1, 24, 7, 7}, {48 / (groups == 24 ? 2 : 1), 24 / groups, 3, 3}, {{"group", groups}}}, 1));
      expect_equal({"integer_conv"});
    }
}

TEST_F(EngineIntegerTest, ConvolutionsThatAreRefused) {
  // Weights that are not constant; sums that may overflow 32 bits.
  output(
      op("ConvInteger", {level_input(DType::kUInt8, {1, 2, 3, 3}), level_input(DType::kInt8, {2, 2, 1, 1})}));
  expect_equal({"evaluate"});
  output(convolution(DType::kUInt8, DType::kInt8, {{1, 33100, 1, 1}, {1, 33100, 1, 1}}, 0));
  infer_shapes(*model);
  EXPECT_EQ(tactics(), std::multiset<std::string>{"evaluate"});
}

/// As quantizers write it: with the bias within the sums, or after them.
TEST_F(EngineIntegerTest, SumsBecomeFloatsInTheSameStep) {
  for (const bool by_sums : {false, true})
    for (const auto& [groups, inputs] : {std::pair<int64_t, int64_t>{1, 12}, {2, 6}, {12, 1}}) {
      Value* y = convolution(
          DType::kUInt8, DType::kUInt8,
          {{2, 12, 6, 5}, {12, inputs, 3, 3}, {{"group", groups}, {"pads", Ints{1, 1, 1, 1}}}}, 2);
      if (by_sums)
        y = op("Add", {y, g.add_constant(g.unique_name("b"),
                                         convert(random({1, 12, 1, 1}, -9e3F, 9e3F), DType::kInt32))});
      y = op("Mul", {as_float(y), scalar(1e-4F)});
      if (!by_sums) y = op("Add", {y, weight({1, 12, 1, 1})});
      output(op("Relu", {y}));
      expect_agreement();
      EXPECT_EQ(computing(), std::multiset<std::string>{"integer_conv"});
    }
  clear();
  Value* sums = op("MatMulInteger", {level_input(DType::kUInt8, {2, 5, 40}),
                                     g.add_constant(g.unique_name("w"), levels(DType::kInt8, {40, 24})),
                                     level_input(DType::kUInt8, {})});
  output(op("Add", {op("Mul", {as_float(sums), weight({24})}), weight({24})}));
  expect_agreement();
  EXPECT_EQ(tactics(), std::multiset<std::string>{"integer_matmul"});
}

/// Other consumers of the sums get them.
TEST_F(EngineIntegerTest, SumsThatLeaveTheNetworkStayIntegers) {
  Value* const sums = convolution(DType::kUInt8, DType::kInt8, {{1, 4, 5, 5}, {7, 4, 3, 3}}, 1);
  output(sums);
  output(op("Relu", {as_float(sums)}));
  expect_agreement();
  EXPECT_EQ(tactics().count("integer_conv"), 1U);
}

TEST_F(EngineIntegerTest, QuantisationByTheRangeOfTheData) {
  for (const Shape& shape : {Shape{1}, {3, 7}, {2, 3, 64}}) {
    clear();
    std::vector<Value*> outputs;
    for (int i = 0; i < 3; ++i) outputs.push_back(g.add_value(g.unique_name("y")));
    g.add_node("DynamicQuantizeLinear", {input(g.unique_name("x"), shape)}, outputs);
    for (Value* v : outputs) output(v);
    infer_shapes(*model);
    const std::vector<Tensor> wanted = exact(), y = run(*open());
    EXPECT_EQ(y[0].to_int64(), wanted[0].to_int64());
    EXPECT_EQ(y[2].to_int64(), wanted[2].to_int64());
    expect_near(y[1], wanted[1], "scale");
    EXPECT_EQ(tactics(), std::multiset<std::string>{"dynamic_quantize"});
  }
}

TEST_F(EngineIntegerTest, ALayerOfADynamicallyQuantisedNetwork) {
  std::vector<Value*> q;
  for (int i = 0; i < 3; ++i) q.push_back(g.add_value(g.unique_name("q")));
  g.add_node("DynamicQuantizeLinear", {input("x", {4, 32})}, q);
  Value* const sums = op("MatMulInteger", {q[0], g.add_constant("w", levels(DType::kInt8, {32, 24})), q[2],
                                           g.add_constant("z", levels(DType::kInt8, {24}))});
  Value* const numbers = op("Cast", {sums}, {{"to", static_cast<int64_t>(DType::kFloat32)}});
  Value* const scaled = op("Mul", {numbers, op("Mul", {q[1], scalar(0.01F)})});
  output(op("Add", {scaled, weight({24})}));
  expect_agreement();
  EXPECT_FALSE(tactics().contains("evaluate"));
}

}  // namespace
}  // namespace assay::engine_integer_test
