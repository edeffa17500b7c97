#include "transform/quantize.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "analysis/held_types.h"
#include "analysis/match.h"
#include "analysis/quantization.h"
#include "naming/origins.h"
#include "ops/infer.h"
#include "passes/graph_summary_test_util.h"
#include "passes/pass_manager.h"
#include "reference/interpreter.h"

namespace assay::quantize_test {
namespace {

/// A model whose inputs and weights are integers up to 127, exactly represented in 8 bits with scale 1.
struct Quantize : testing::Test {
  Quantize() : model(std::make_shared<Model>()), g(*model->graph) { model->opsets = {{"", 17}}; }

  Value* input(const char* name, const Shape& shape) {
    feed.push_back(numbers(shape));
    return g.add_input(name, Type::tensor(DType::kFloat32, shape));
  }
  /// The first number along `axis` is 127, so that the scale of each index is 1.
  Value* weights(const char* name, const Shape& shape, size_t axis) {
    Tensor t = numbers(shape);
    const int64_t count = shape[axis], inner = shape.numel(axis + 1, shape.size());
    std::vector<bool> seen(static_cast<size_t>(count));
    for (int64_t i = 0; i < t.numel(); ++i) {
      const auto c = static_cast<size_t>(i / inner % count);
      if (!seen[c]) t.mutable_data<float>()[i] = c % 2 == 0 ? 127 : -127;
      seen[c] = true;
    }
    return g.add_constant(name, t);
  }
  Tensor numbers(const Shape& shape) {
    std::uniform_int_distribution<int> draw(-100, 100);
    Tensor t = Tensor::allocate(DType::kFloat32, shape);
    for (float& x : t.mutable_span<float>()) x = static_cast<float>(draw(random));
    return t;
  }
  Value* node(const char* op, std::vector<Value*> inputs, const char* output, AttributeList attributes = {}) {
    Value* y = g.add_value(output);
    g.add_node(op, std::move(inputs), {y}, std::move(attributes), output + std::string("_node"));
    return y;
  }
  std::vector<Tensor> evaluate() {
    infer_shapes(*model);
    Interpreter interpreter(model, {.precision = ReferencePrecision::kStored});
    std::vector<Tensor> results(g.outputs.size());
    interpreter.run(feed, [&](const Value& v, std::span<const Tensor> lanes) {
      for (size_t i = 0; i < results.size(); ++i)
        if (g.outputs[i] == &v) results[i] = lanes[0];
    });
    return results;
  }
  QuantizeReport quantized(std::map<std::string, float> scales, std::set<std::string> float_nodes = {}) {
    infer_shapes(*model);
    QuantizeReport report =
        quantize(*model, {.scales = std::move(scales), .float_nodes = std::move(float_nodes)});
    verify_graph(g);
    infer_shapes(*model);  // throws when types do not fit
    return report;
  }
  int64_t count(std::string_view op) const {
    return std::count_if(g.nodes().begin(), g.nodes().end(), [&](const auto& n) { return n->op_type == op; });
  }

  std::mt19937 random{3};
  std::shared_ptr<Model> model;
  Graph& g;
  std::vector<Tensor> feed;
};

TEST_F(Quantize, WhatEightBitsHoldStaysTheSame) {
  Value* x = input("x", {2, 6, 5, 5});
  Value* conv = node("Conv", {x, weights("w", {8, 6, 3, 3}, 0), g.add_constant("b", numbers({8}))}, "conv");
  Value* each = node("Conv", {x, weights("d", {6, 1, 2, 2}, 0)}, "each", {{"group", int64_t{6}}});
  Value* a = input("a", {3, 9});
  Value* product = node("MatMul", {a, weights("m", {9, 4}, 1)}, "product");
  Value* gemm = node("Gemm", {a, weights("t", {5, 9}, 0), g.add_constant("c", numbers({5}))}, "gemm",
                     {{"transB", int64_t{1}}, {"beta", 2.0F}});
  g.outputs = {conv, each, product, gemm};
  const std::vector<Tensor> before = evaluate();
  const QuantizeReport report = quantized({{"x", 1.0F}, {"a", 1.0F}});
  EXPECT_EQ(report.quantized, 4);
  EXPECT_TRUE(report.kept.empty());
  EXPECT_TRUE(report.without_scale.empty());
  EXPECT_EQ(count("QuantizeLinear"), 2) << "nodes with the same input share its 8 bits";
  EXPECT_EQ(find_quantized_constants(g).size(), 4U);
  const std::vector<Tensor> after = evaluate();
  for (size_t i = 0; i < before.size(); ++i)
    EXPECT_TRUE(before[i].identical(after[i])) << g.outputs[i]->name();
}

struct QuantizedInput : Quantize {
  /// Of a product whose numbers are not below zero, with a scale of a half.
  Quantization quantization_with(bool symmetric) {
    Value* positive = node("Relu", {input("x", {3, 9})}, "positive");
    g.outputs = {node("MatMul", {positive, weights("w", {9, 4}, 1)}, "y")};
    infer_shapes(*model);
    quantize(*model, {.scales = {{"positive", 0.5F}}, .float_nodes = {}, .symmetric = symmetric});
    for (const auto& n : g.nodes())
      if (is_op(*n, "QuantizeLinear")) return read_quantization(*n).value();
    return {};
  }
};

TEST_F(QuantizedInput, UsesAllStepsForPositiveNumbers) {
  const Quantization q = quantization_with(false);
  EXPECT_EQ(q.dtype, DType::kUInt8);
  EXPECT_EQ(q.zero_point, 0);
  EXPECT_FLOAT_EQ(q.scale, 0.5F * 127 / 255);
}

/// As TensorRT reads it.
TEST_F(QuantizedInput, IsInt8AroundZeroOnRequest) {
  const Quantization q = quantization_with(true);
  EXPECT_EQ(q.dtype, DType::kInt8);
  EXPECT_EQ(q.zero_point, 0);
  EXPECT_EQ(q.scale, 0.5F);
}

TEST_F(Quantize, EachChannelHasItsScale) {
  Value* a = input("a", {3, 2});
  Value* w =
      g.add_constant("w", Tensor::from<float>({2, 3}, std::vector<float>{127, 0.5F, 0, -64, -0.254F, 0}));
  g.outputs = {node("MatMul", {a, w}, "y")};
  quantized({{"a", 1.0F}});
  const QuantizedConstants constants = find_quantized_constants(g);
  ASSERT_EQ(constants.size(), 1U);
  const QuantizedConstant& c = constants.begin()->second;
  EXPECT_EQ(c.axis, 1U);
  EXPECT_EQ(c.stored.to_int64(), (std::vector<int64_t>{127, 127, 0, -64, -65, 0}));
  ASSERT_EQ(c.scale.size(), 3U);
  EXPECT_FLOAT_EQ(c.scale[1], 0.5F / 127);
  EXPECT_GT(c.scale[2], 0);
}

TEST_F(Quantize, NumbersBeyondTheRangeAreClipped) {
  Value* a = input("a", {1, 3});
  feed[0] = Tensor::from<float>({1, 3}, std::vector<float>{1.26F, 300, -300});
  Tensor identity = Tensor::zeros(DType::kFloat32, {3, 3});
  for (int64_t i = 0; i < 3; ++i) identity.mutable_data<float>()[i * 4] = 127;
  g.outputs = {node("MatMul", {a, g.add_constant("w", identity)}, "y")};
  quantized({{"a", 0.5F}});
  const Tensor y = evaluate()[0];
  EXPECT_EQ(std::vector<float>(y.span<float>().begin(), y.span<float>().end()),
            (std::vector<float>{1.5F * 127, 63.5F * 127, -64.0F * 127}));
}

/// Groups as wide as the products' columns are.
TEST_F(Quantize, WideGroups) {
  Value* x = input("x", {1, 32, 3, 3});
  g.outputs = {node("Conv", {x, weights("w", {48, 16, 1, 1}, 0)}, "y", {{"group", int64_t{2}}})};
  const std::vector<Tensor> before = evaluate();
  EXPECT_EQ(quantized({{"x", 1.0F}}).quantized, 1);
  EXPECT_TRUE(evaluate()[0].identical(before[0]));
}

/// The residual layers of a network: what leads past products is read as they read it.
struct QuantizeSums : Quantize {
  /// y = Conv(Relu(Conv(r) + r)), where r = Relu(x).
  void make(bool bounded) {
    Value* r = node("Relu", {input("x", {1, 4, 5, 5})}, "r");
    Value* c = node("Conv", {r, weights("w", {4, 4, 1, 1}, 0)}, "c");
    Value* sum = node("Add", {c, r}, "sum");
    if (bounded) sum = node("Relu", {sum}, "bounded");
    g.outputs = {node("Conv", {sum, weights("v", {4, 4, 1, 1}, 0)}, "y")};
  }
  const Node& add() const {
    return **std::find_if(g.nodes().begin(), g.nodes().end(),
                          [](const auto& n) { return n->op_type == "Add"; });
  }
  /// Which of its operands come from 8 bits.
  std::string read() const {
    std::string text;
    for (const Value* v : add().inputs()) text += quantization_of(v) ? "8" : "f";
    return text;
  }
};

TEST_F(QuantizeSums, ReadWhatTheProductsRead) {
  make(false);
  quantized({{"r", 1.0F}, {"c", 64.0F}, {"sum", 64.0F}});
  EXPECT_EQ(read(), "f8");
}

TEST_F(QuantizeSums, ReadItBeforeBoundsToo) {
  make(true);
  quantized({{"r", 1.0F}, {"c", 64.0F}, {"sum", 64.0F}, {"bounded", 64.0F}});
  EXPECT_EQ(read(), "f8");
}

TEST_F(QuantizeSums, OfTwoProductsTheFirstWaitsIn8Bits) {
  Value* x = input("x", {1, 4, 5, 5});
  Value* a = node("Conv", {x, weights("w", {4, 4, 1, 1}, 0)}, "a");
  Value* b = node("Conv", {x, weights("u", {4, 4, 1, 1}, 0)}, "b");
  Value* sum = node("Add", {b, a}, "sum");
  g.outputs = {node("Conv", {sum, weights("v", {4, 4, 1, 1}, 0)}, "y")};
  quantized({{"x", 1.0F}, {"a", 64.0F}, {"b", 64.0F}, {"sum", 64.0F}});
  EXPECT_EQ(read(), "f8");
}

TEST_F(QuantizeSums, StayInFloats) {
  make(true);
  quantized({{"r", 1.0F}, {"sum", 64.0F}, {"bounded", 64.0F}}, {"sum_node"});
  EXPECT_EQ(read(), "ff") << "it was asked for";
}

TEST_F(QuantizeSums, StayInFloatsThatAreToBeStored) {
  make(true);
  set_held_outputs(*g.find_value("r")->producer(), {"float32"});
  quantized({{"r", 1.0F}, {"sum", 64.0F}, {"bounded", 64.0F}});
  EXPECT_EQ(read(), "ff");
}

TEST_F(QuantizeSums, StayInFloatsWhereTheNumbersAreNeededAnyway) {
  make(true);
  g.outputs.push_back(node("Softmax", {g.find_value("r")}, "other"));
  quantized({{"r", 1.0F}, {"sum", 64.0F}, {"bounded", 64.0F}});
  EXPECT_EQ(read(), "ff");
}

TEST_F(QuantizeSums, StayInFloatsWhereNoProductReadsThem) {
  Value* r = node("Relu", {input("x", {1, 4, 5, 5})}, "r");
  Value* c = node("Conv", {r, weights("w", {4, 4, 1, 1}, 0)}, "c");
  g.outputs = {node("Add", {c, r}, "sum")};
  quantized({{"r", 1.0F}, {"c", 64.0F}, {"sum", 64.0F}});
  EXPECT_EQ(read(), "ff");
}

/// The values that are in 8 bits between layers.
std::string kept_of(const Graph& g, std::initializer_list<const char*> names) {
  std::string kept;
  for (const char* name : names)
    if (g.find_value(std::string(name) + "/quantized") != nullptr)
      kept += (kept.empty() ? "" : " ") + std::string(name);
  return kept;
}

/// The step of numbers that cannot be negative, in calibrated ones.
constexpr float kUnsigned = 127.0F / 255;

/// A function of a product's results is rounded once; the parts of what is split have its scale.
TEST_F(Quantize, WhatLiesBetweenProductsIsKeptIn8Bits) {
  const auto conv = [&](Value* x, const char* name, int64_t inputs, int64_t outputs) {
    return node("Conv", {x, weights((std::string(name) + "_w").c_str(), {outputs, inputs, 1, 1}, 0)}, name);
  };
  Value* c = conv(input("x", {1, 4, 5, 5}), "c", 4, 4);
  Value* s = node("Mul", {c, node("Sigmoid", {c}, "sigmoid")}, "s");
  Value *a = g.add_value("a"), *b = g.add_value("b");
  g.add_node("Split", {s}, {a, b}, {{"axis", int64_t{1}}}, "split_node");
  Value* d = node("Relu", {conv(b, "d", 2, 2)}, "r");
  Value* joined = node("Concat", {a, node("Add", {d, b}, "sum")}, "joined", {{"axis", int64_t{1}}});
  g.outputs = {conv(joined, "y", 4, 3)};
  std::map<std::string, float> scales;
  for (const char* name : {"x", "c", "sigmoid", "s", "a", "b", "d", "r", "sum", "joined"}) scales[name] = 64;
  scales["s"] = 32;
  quantized(scales);
  EXPECT_EQ(kept_of(g, {"x", "c", "sigmoid", "s", "a", "b", "d", "r", "sum", "joined"}), "x s a b joined");
  EXPECT_FLOAT_EQ(quantization_of(g.find_value("b/dequantized"))->scale, 32 * kUnsigned);
}

/// Squeeze and excitation: the image, its average, the gate and what is weighted.
TEST_F(Quantize, GatesAndAveragesAreKeptIn8Bits) {
  const auto conv = [&](Value* x, const char* name, int64_t inputs, int64_t outputs) {
    return node("Conv", {x, weights((std::string(name) + "_w").c_str(), {outputs, inputs, 1, 1}, 0)}, name);
  };
  Value* c = conv(input("x", {1, 4, 5, 5}), "c", 4, 4);
  Value* s = node("Mul", {c, node("Sigmoid", {c}, "sigmoid")}, "s");
  Value* average = node("GlobalAveragePool", {s}, "average");
  Value* squeezed = node("Relu", {conv(average, "d", 4, 2)}, "r");
  Value* gate = node("HardSigmoid", {conv(squeezed, "e", 2, 4)}, "gate");
  g.outputs = {conv(node("Mul", {gate, s}, "weighted"), "y", 4, 3)};
  std::map<std::string, float> scales;
  for (const char* name : {"x", "c", "sigmoid", "s", "average", "d", "r", "e", "gate", "weighted"})
    scales[name] = 0.01F;
  scales["x"] = scales["r"] = 1;
  quantized(scales);
  EXPECT_EQ(kept_of(g, {"x", "c", "sigmoid", "s", "average", "d", "r", "e", "gate", "weighted"}),
            "x s average r gate weighted");
  const auto levels = [&](const char* name) {
    return *quantization_of(g.find_value(std::string(name) + "/dequantized"));
  };
  EXPECT_EQ(levels("x").dtype, DType::kUInt8);
  EXPECT_EQ(levels("x").zero_point, 128);
  EXPECT_EQ(levels("r").dtype, DType::kUInt8);
  EXPECT_EQ(levels("r").zero_point, 0);
  // From the least of a SiLU, -0.2785, to 1.27, and the same of its averages and parts.
  for (const char* name : {"s", "average", "weighted"}) {
    EXPECT_EQ(levels(name).dtype, DType::kUInt8) << name;
    EXPECT_EQ(levels(name).zero_point, 46) << name;
    EXPECT_NEAR(levels(name).scale, 1.5485 / 255, 3e-5) << name;
  }
}

/// Interpolated pixels have a scale of their own.
TEST_F(Quantize, InterpolatedPixelsStayIn8Bits) {
  Value* c = node("Conv", {input("x", {1, 4, 3, 3}), weights("w", {4, 4, 1, 1}, 0)}, "c");
  Value* sizes = g.add_constant("sizes", Tensor::from<float>({4}, std::vector<float>{1, 1, 2, 2}));
  Value* big = node("Resize", {c, nullptr, sizes}, "big", {{"mode", std::string("linear")}});
  Value* joined = node("Concat", {big, big}, "joined", {{"axis", int64_t{1}}});
  g.outputs = {node("Conv", {joined, weights("v", {3, 8, 1, 1}, 0)}, "y")};
  quantized({{"x", 1}, {"c", 64}, {"big", 32}, {"joined", 32}});
  EXPECT_EQ(kept_of(g, {"x", "c", "big", "joined"}), "x c big joined");
  EXPECT_FLOAT_EQ(quantization_of(g.find_value("big/dequantized"))->scale, 32);
}

TEST_F(Quantize, ProductsOfImagesStayInFloats) {
  Value* x = node("Relu", {input("x", {1, 4, 5, 5})}, "r");
  Value* other = node("Tanh", {input("z", {1, 4, 5, 5})}, "t");
  g.outputs = {node("Conv", {node("Mul", {x, other}, "m"), weights("w", {4, 4, 1, 1}, 0)}, "y")};
  quantized({{"r", 1}, {"t", 1}, {"m", 1}});
  EXPECT_EQ(kept_of(g, {"r", "t", "m"}), "m");
}

/// Pixels that a Resize selects have the scale of its input.
TEST_F(Quantize, PixelsThatAreSelectedStayIn8Bits) {
  Value* c =
      node("Relu", {node("Conv", {input("x", {1, 4, 3, 3}), weights("w", {4, 4, 1, 1}, 0)}, "c")}, "r");
  Value* sizes = g.add_constant("sizes", Tensor::from<float>({4}, std::vector<float>{1, 1, 2, 2}));
  Value* big = node("Resize", {c, nullptr, sizes}, "big", {{"mode", std::string("nearest")}});
  Value* joined = node("Concat", {big, big}, "joined", {{"axis", int64_t{1}}});
  g.outputs = {node("Conv", {joined, weights("v", {3, 8, 1, 1}, 0)}, "y")};
  quantized({{"x", 1}, {"c", 64}, {"r", 64}, {"big", 32}, {"joined", 32}});
  EXPECT_EQ(kept_of(g, {"x", "c", "r", "big", "joined"}), "x big joined");
  EXPECT_FLOAT_EQ(quantization_of(g.find_value("big/dequantized"))->scale, 64 * kUnsigned);
}

/// The 8 bits are there before the first that reads them, which need not be a product.
TEST_F(Quantize, ReadersBeforeTheFirstProduct) {
  Value* r = node("Relu", {input("x", {2, 4})}, "r");
  Value* joined = node("Concat", {r, r}, "joined", {{"axis", int64_t{1}}});
  g.outputs = {node("MatMul", {joined, weights("v", {8, 4}, 1)}, "y"),
               node("MatMul", {r, weights("u", {4, 4}, 1)}, "z")};
  quantized({{"r", 1.0F}, {"joined", 1.0F}});
  EXPECT_TRUE(quantization_of(joined->producer()->input(0)));
}

/// The largest of rounded numbers is the largest one, rounded, if both have the scale of the result.
TEST_F(Quantize, WhatOnlyAPoolReadsHasTheScaleOfItsResult) {
  Value* c = node("Conv", {input("x", {1, 4, 6, 6}), weights("w", {4, 4, 1, 1}, 0)}, "c");
  Value* p = node("MaxPool", {node("Relu", {c}, "r")}, "p", {{"kernel_shape", std::vector<int64_t>{2, 2}}});
  g.outputs = {node("MatMul", {node("Flatten", {p}, "f"), weights("v", {100, 7}, 1)}, "y")};
  quantized({{"x", 1}, {"c", 0.25F}, {"r", 0.25F}, {"p", 2}, {"f", 2}});
  for (const auto& n : g.nodes()) {
    if (!is_op(*n, "DequantizeLinear") || constant_of(n->input(0)) != nullptr) continue;
    const float scale = quantization_of(n->output(0))->scale;
    EXPECT_TRUE(scale == 1 || scale == 2 * kUnsigned) << n->label() << " " << scale;
  }
}

/// A function of what is kept anyway.
TEST_F(Quantize, FunctionsOfKeptValuesAreTables) {
  Value* x = node("Relu", {input("x", {2, 6})}, "r");
  Value* s = node("Tanh", {x}, "s");
  g.outputs = {node("MatMul", {s, weights("v", {6, 4}, 1)}, "y"),
               node("MatMul", {x, weights("u", {6, 4}, 1)}, "z")};
  quantized({{"r", 1.0F}, {"s", 1.0F}});
  const Node& tanh =
      **std::find_if(g.nodes().begin(), g.nodes().end(), [](const auto& n) { return n->op_type == "Tanh"; });
  EXPECT_TRUE(quantization_of(tanh.input(0)));
  EXPECT_EQ(kept_of(g, {"r", "s"}), "r s");
}

TEST_F(Quantize, WhatStaysFloat32SaysWhy) {
  Value* x = input("x", {1, 4, 5, 5});
  Value* a = input("a", {4, 4});
  Value* v = input("v", {4});
  const auto out = [&](const char* op, std::vector<Value*> inputs, const char* name,
                       AttributeList attributes = {}) {
    g.outputs.push_back(node(op, std::move(inputs), name, std::move(attributes)));
  };
  out("Conv", {x, weights("grouped", {4, 2, 1, 1}, 0)}, "groups", {{"group", int64_t{2}}});
  out("MatMul", {a, a}, "no_weights");
  out("MatMul", {v, weights("w1", {4, 3}, 1)}, "vector");
  out("MatMul", {a, weights("w2", {2, 4, 3}, 2)}, "stack");
  out("Gemm", {a, weights("w3", {4, 3}, 1)}, "factor", {{"alpha", 0.5F}});
  out("Gemm", {a, weights("w4", {4, 3}, 1)}, "transposed", {{"transA", int64_t{1}}});
  out("Gemm", {a, weights("w5", {4, 3}, 1), g.add_constant("one", Tensor::scalar<float>(1))}, "added");
  out("MatMul", {a, weights("w6", {4, 3}, 1)}, "wanted");
  Tensor infinite = numbers({4, 3});
  infinite.mutable_data<float>()[5] = INFINITY;
  out("MatMul", {a, g.add_constant("w7", infinite)}, "infinite");
  Value* zero = node("Relu", {a}, "zero");
  Value* unknown = node("Neg", {a}, "unknown");
  out("MatMul", {zero, weights("w8", {4, 3}, 1)}, "no_range");
  out("MatMul", {unknown, weights("w9", {4, 3}, 1)}, "no_scale");
  out("MatMul", {unknown, weights("w10", {4, 3}, 1)}, "no_scale_again");
  const QuantizeReport report =
      quantized({{"x", 1.0F}, {"a", 1.0F}, {"v", 1.0F}, {"zero", 0.0F}}, {"wanted_node"});
  EXPECT_EQ(report.quantized, 0);
  EXPECT_EQ(count("QuantizeLinear"), 0);
  EXPECT_EQ(count("DequantizeLinear"), 0);
  EXPECT_EQ(report.without_scale, std::vector<std::string>{"unknown"});
  std::map<std::string, std::string> reasons;
  for (const QuantizeReport::Kept& k : report.kept)
    reasons[k.node.substr(1, k.node.find("_node") - 1)] = k.reason;
  const std::map<std::string, std::string> wanted = {
      {"groups", "its groups have fewer than 16 channels"},
      {"vector", "its input is a vector"},
      {"stack", "its weights are no matrix"},
      {"factor", "it has a factor (alpha)"},
      {"transposed", "its input is transposed"},
      {"added", "what it adds is not one constant for each column"},
      {"wanted", "it was to stay in float32"},
      {"infinite", "its weights hold infinity or NaN"},
      {"no_range", "the numbers of its input gave no range"},
  };
  EXPECT_EQ(reasons, wanted);
}

TEST_F(Quantize, NewNodesComeFromTheProduct) {
  Value* a = input("a", {3, 9});
  g.outputs = {node("MatMul", {a, weights("m", {9, 4}, 1)}, "y")};
  quantized({{"a", 1.0F}});
  for (const auto& n : g.nodes()) EXPECT_EQ(origins_of(*n), std::vector<std::string>{"y_node"});
}

TEST_F(Quantize, OlderOpsetsAreRefused) {
  model->opsets = {{"", 12}};
  Value* a = input("a", {3, 9});
  g.outputs = {node("MatMul", {a, weights("m", {9, 4}, 1)}, "y")};
  EXPECT_THROW(quantized({{"a", 1.0F}}), Error);
}

}  // namespace
}  // namespace assay::quantize_test
