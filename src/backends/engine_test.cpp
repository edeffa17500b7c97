// Compares every tactic with the float64 reference, on small graphs built for it.
#include "assay/builder.h"
#include "assay/runtime.h"
#include "backends/engine_fixture.h"

namespace assay::engine_test {
namespace {

Value* batch_norm(Graph& g, Value* x, int64_t channels, const Tensor& positive, const Tensor& any) {
  EXPECT_EQ(positive.numel(), channels);
  return layer(g, "BatchNormalization", {x, positive, any, any, positive}, {"y"})[0];
}

// A constant [C, H, W] is row-major, a convolution's result in blocks of channels.
TEST_F(EngineTest, AnAddedPictureIsNotReadInBlocks) {
  Value* x = input("x", {1, 16, 6, 6});
  Value* y =
      op("Relu", {op("Conv", {x, weight({16, 16, 3, 3})}, {{"pads", std::vector<int64_t>{1, 1, 1, 1}}})});
  output(op("Sigmoid", {op("Add", {y, weight({16, 6, 6})})}));
  expect_agreement();
}

TEST_F(EngineTest, ConvolutionNormalisationAndActivationAreOneStep) {
  Value* x = input("x", {1, 32, 28, 28});
  Value* y = op("Conv", {x, weight({64, 32, 5, 5})}, {{"pads", std::vector<int64_t>{2, 2, 2, 2}}});
  y = batch_norm(g, y, 64, random({64}, 0.5, 1.5), random({64}));
  output(op("Relu", {y}));
  expect_agreement({"reorder", "dnnl_conv", "reorder"});
}

TEST_F(EngineTest, AResidualIsAddedInsideTheConvolution) {
  Value* x = input("x", {2, 32, 14, 14});
  Value* a = op("Relu", {op("Conv", {x, weight({32, 32, 1, 1}), weight({32})})});
  Value* b = op("Conv", {a, weight({32, 32, 5, 5})}, {{"pads", std::vector<int64_t>{2, 2, 2, 2}}});
  output(op("Relu", {op("Add", {b, a})}));
  expect_agreement({"reorder", "dnnl_conv", "dnnl_conv", "reorder"});
}

TEST_F(EngineTest, ConvolutionsOfEveryKind) {
  Value* image = input("image", {1, 3, 17, 19});
  Value* map = input("map", {1, 24, 9, 9});
  Value* line = input("line", {2, 4, 33});
  Value* volume = input("volume", {1, 4, 5, 6, 7});
  output(op("Conv", {image, weight({16, 3, 5, 5}), weight({16})},
            {{"strides", std::vector<int64_t>{2, 2}}, {"pads", std::vector<int64_t>{2, 1, 0, 2}}}));
  output(op("Conv", {map, weight({24, 1, 3, 3})}, {{"group", int64_t{24}}}));
  output(op("Conv", {map, weight({48, 8, 3, 3})}, {{"group", int64_t{3}}}));
  output(op("Conv", {map, weight({8, 24, 3, 3})}, {{"dilations", std::vector<int64_t>{2, 3}}}));
  output(op("Conv", {line, weight({6, 4, 4})}, {{"auto_pad", std::string("SAME_UPPER")}}));
  output(op("Conv", {volume, weight({5, 4, 2, 3, 3})}));
  output(op("ConvTranspose", {map, weight({24, 8, 2, 2})}, {{"strides", std::vector<int64_t>{2, 2}}}));
  expect_agreement();
}

TEST_F(EngineTest, GroupedPointwiseConvolutionsRunWhereTheyLie) {
  Value* x = input("x", {2, 24, 7, 7});
  Value* residual = input("residual", {2, 36, 7, 7});
  Value* y = op("Conv", {x, weight({36, 8, 1, 1}), weight({36})}, {{"group", int64_t{3}}});
  output(op("Relu", {op("Add", {y, residual})}));
  expect_agreement({"group_conv"});
}

TEST_F(EngineTest, SignalsAreFilteredAlongTheirRows) {
  Value* x = input("x", {2, 24, 37});
  const auto filtered = [&](AttributeList attributes, bool biased) {
    attributes.emplace_back("group", int64_t{24});
    return op("Conv", {x, weight({24, 1, 5}), biased ? weight({24}) : nullptr}, std::move(attributes));
  };
  output(op("Relu", {op("Add", {filtered({{"pads", std::vector<int64_t>{2, 2}}}, true), x})}));
  output(filtered({{"pads", std::vector<int64_t>{9, 0}}, {"dilations", std::vector<int64_t>{3}}}, false));
  output(filtered({}, true));
  expect_agreement({"depthwise_conv1d", "depthwise_conv1d", "depthwise_conv1d"});
}

TEST_F(EngineTest, InfiniteFiltersDoNotSeePadding) {
  Tensor w = random({3, 1, 3});
  w.mutable_data<float>()[0] = std::numeric_limits<float>::infinity();
  Value* x = input("x", {1, 3, 8});
  output(op("Conv", {x, g.add_constant("filters", w)},
            {{"group", int64_t{3}}, {"pads", std::vector<int64_t>{1, 1}}}));
  infer_shapes(*model);
  EXPECT_EQ(tactics().count("depthwise_conv1d"), 0U);
}

TEST_F(EngineTest, NormalisationsAcrossChannels) {
  const AttributeList numbers = {{"size", int64_t{5}}, {"alpha", 0.5F}, {"beta", 0.6F}, {"bias", 1.5F}};
  output(op("LRN", {input("x", {2, 12, 5, 7})}, numbers));
  output(op("LRN", {input("signal", {3, 5})}, {{"size", int64_t{4}}}));
  output(op("LRN", {input("volume", {1, 33, 2, 3, 2})}, {{"size", int64_t{7}}, {"beta", 2.0F}}));
  expect_agreement({"channel_response", "channel_response", "channel_response"});
}

// oneDNN 2.7 runs the second of two post-ops of one algorithm with the first one's parameters.
TEST_F(EngineTest, TwoScalesAroundAnActivationKeepTheirNumbers) {
  Value* x = input("x", {6, 32});
  Value* w = input("w", {32, 16});
  Value* y = op("Tanh", {op("Mul", {op("MatMul", {x, w}), scalar(0.5F)})});
  output(op("Mul", {y, scalar(2)}));
  expect_agreement();
}

TEST_F(EngineTest, ProductsOfEveryKind) {
  Value* a = input("a", {12, 20});
  Value* stack = input("stack", {2, 3, 12, 20});
  Value* other = input("other", {2, 3, 20, 8});
  output(op("Gemm", {a, weight({20, 30}), weight({30})}));
  output(op("Gemm", {a, weight({30, 20}), weight({30})},
            {{"transB", int64_t{1}}, {"alpha", 0.5F}, {"beta", 2.0F}}));
  output(op("Gemm", {a, weight({12, 7})}, {{"transA", int64_t{1}}}));
  output(op("MatMul", {stack, weight({20, 5})}));
  output(op("MatMul", {stack, other}));
  output(op("MatMul", {op("Transpose", {other}, {{"perm", std::vector<int64_t>{0, 1, 3, 2}}}),
                       op("Transpose", {stack}, {{"perm", std::vector<int64_t>{0, 1, 3, 2}}})}));
  expect_agreement();
}

TEST_F(EngineTest, AFewRowsTimesAConstantReadItWhereItLies) {
  for (const int64_t rows : {1, 3}) {
    Value* x = input(fmt::format("x{}", rows), {rows, 200});
    output(op("Relu", {op("Gemm", {x, weight({200, 300}), weight({300})})}));
    output(op("Gemm", {x, weight({70, 200})}, {{"transB", int64_t{1}}}));
  }
  expect_agreement({"gemv", "gemv", "gemv", "gemv"});
}

// A row of 128 in two parts, and a row of 64: oneDNN's cache treats parts as the same problem for any
// stride of a lone row, so its choice of an implementation must do so, too.
TEST_F(EngineTest, PartsOfARowAreRowsOfTheirOwn) {
  Value* x = input("x", {1, 256});
  for (const int64_t columns : {64, 128})
    output(op("Gemm", {x, weight({columns, 256}), weight({columns})}, {{"transB", int64_t{1}}}));
  infer_shapes(*model);
  BuilderConfig config{.optimization_level = 0};
  config.disabled_tactics = {"gemv", "panel_matmul:float32"};
  const Runtime runtime({.threads = 2});
  const auto engine = runtime.deserialize_engine(Builder(runtime).build_serialized_network(model, config));
  const std::vector<Tensor> y = engine->create_execution_context()->infer(feed), reference = exact();
  for (size_t i = 0; i < y.size(); ++i) expect_near(y[i], reference[i], g.outputs[i]->name());
}

TEST_F(EngineTest, PoolingAndLocalNormalisation) {
  Value* x = input("x", {1, 20, 11, 11});
  const AttributeList window = {{"kernel_shape", std::vector<int64_t>{3, 3}},
                                {"strides", std::vector<int64_t>{2, 2}},
                                {"pads", std::vector<int64_t>{1, 1, 1, 1}}};
  output(op("MaxPool", {x}, window));
  output(op("AveragePool", {x}, window));
  AttributeList with_padding = window;
  with_padding.emplace_back("count_include_pad", int64_t{1});
  output(op("AveragePool", {x}, with_padding));
  output(op("GlobalAveragePool", {x}));
  output(op("LRN", {x}, {{"size", int64_t{5}}}));
  expect_agreement();
}

TEST_F(EngineTest, RowsAndAxes) {
  Value* x = input("x", {2, 5, 24});
  output(op("Softmax", {x}));
  output(op("Softmax", {x}, {{"axis", int64_t{1}}}));
  output(op("LayerNormalization", {x, weight({24}), weight({24})}));
  output(op("ReduceMean", {x, ints({-1})}));
  output(op("ReduceMax", {x, ints({0, 2})}, {{"keepdims", int64_t{0}}}));
  expect_agreement();
}

TEST_F(EngineTest, MovingData) {
  Value* x = input("x", {2, 6, 8, 10});
  Value* y = input("y", {2, 4, 8, 10});
  Value* joined = op("Concat", {x, y, x}, {{"axis", int64_t{1}}});
  output(joined);
  output(op("Transpose", {joined}, {{"perm", std::vector<int64_t>{0, 2, 3, 1}}}));
  output(op("Slice", {joined, ints({1, 7}), ints({16, 0}), ints({1, 2}), ints({3, -2})}));
  output(op("Pad", {x, ints({0, 0, 1, 2, 0, 1, 0, 3})}));
  output(op("Gather", {x, ints({3, -1, 0})}, {{"axis", int64_t{1}}}));
  output(op("Reshape", {op("Relu", {joined}), ints({4, -1})}));
  Value* scales = g.add_constant("scales", Tensor::vector<float>({1, 1, 2, 2}));
  output(op("Resize", {x, nullptr, scales}, {{"mode", std::string("nearest")}}));
  output(op("Resize", {x, nullptr, scales}, {{"mode", std::string("linear")}}));
  expect_agreement();
}

// Between the convolutions channels are stored last, so that nothing is transposed.
TEST_F(EngineTest, ChannelsThatBecomeTheLastAxisLieThere) {
  const AttributeList depthwise = {{"group", int64_t{48}}, {"pads", std::vector<int64_t>{3, 3, 3, 3}}};
  Value* x = input("x", {2, 48, 5, 7});
  Value* y = op("Conv", {x, weight({48, 1, 7, 7})}, depthwise);
  y = op("Transpose", {y}, {{"perm", std::vector<int64_t>{0, 2, 3, 1}}});
  y = op("Softmax", {y});
  y = op("Transpose", {y}, {{"perm", std::vector<int64_t>{0, 3, 1, 2}}});
  output(op("Conv", {y, weight({48, 1, 7, 7})}, depthwise));
  expect_agreement({"reorder", "depthwise_conv", "softmax", "depthwise_conv", "reorder"});
}

// As exporters write it: pixels as one axis, which changes no place in memory.
TEST_F(EngineTest, ChannelsThatLieLastSurviveAnotherShapeOfTheImage) {
  const AttributeList depthwise = {{"group", int64_t{32}}, {"pads", std::vector<int64_t>{3, 3, 3, 3}}};
  Value* x = input("x", {1, 32, 6, 5});
  Value* y = op("Conv", {x, weight({32, 1, 7, 7})}, depthwise);
  y = op("Reshape", {y, ints({1, 32, 30})});
  y = op("Softmax", {op("Transpose", {y}, {{"perm", std::vector<int64_t>{0, 2, 1}}})});
  y = op("Transpose", {y}, {{"perm", std::vector<int64_t>{0, 2, 1}}});
  y = op("Reshape", {y, ints({1, 32, 6, 5})});
  output(op("Conv", {y, weight({32, 1, 7, 7})}, depthwise));
  expect_agreement({"reorder", "depthwise_conv", "softmax", "depthwise_conv", "reorder"});
}

// A sequence of new lengths, near and far: results must not depend on earlier plans. Shape arithmetic and a
// mask are folded for each.
TEST_F(EngineTest, LengthsInTurns) {
  Value* x = g.add_input("x", Type::tensor(DType::kFloat32, Dims{Dim(1), Dim::symbol("n"), Dim(16)}));
  Value* length = op("Gather", {op("Shape", {x}), ints({1})});
  const auto heads = [&](Value* v) {
    v = op("Reshape", {v, op("Concat", {ints({1}), length, ints({2, 8})}, {{"axis", int64_t{0}}})});
    return op("Transpose", {v}, {{"perm", std::vector<int64_t>{0, 2, 1, 3}}});
  };
  Value* q = heads(op("MatMul", {x, weight({16, 16})}));
  Value* k = op("Transpose", {heads(op("MatMul", {x, weight({16, 16})}))},
                {{"perm", std::vector<int64_t>{0, 1, 3, 2}}});
  Value* v = heads(op("MatMul", {x, weight({16, 16})}));
  Value* places = op("Range", {g.add_constant("zero", Tensor::scalar<int64_t>(0)), op("Squeeze", {length}),
                               g.add_constant("one", Tensor::scalar<int64_t>(1))});
  Value* later = op("Less", {op("Unsqueeze", {places, ints({1})}), op("Unsqueeze", {places, ints({0})})});
  Value* scores = op("Where", {later, scalar(-1e9F), op("MatMul", {q, k})});
  Value* y = op("MatMul", {op("Softmax", {scores}, {{"axis", int64_t{-1}}}), v});
  y = op("Transpose", {y}, {{"perm", std::vector<int64_t>{0, 2, 1, 3}}});
  y = op("Reshape", {y, op("Concat", {ints({1}), length, ints({16})}, {{"axis", int64_t{0}}})});
  Value* t = op("Transpose", {x}, {{"perm", std::vector<int64_t>{0, 2, 1}}});
  t = op("Relu", {op("Conv", {t, weight({16, 16, 3})}, {{"pads", std::vector<int64_t>{1, 1}}})});
  output(op("Add", {y, op("Transpose", {t}, {{"perm", std::vector<int64_t>{0, 2, 1}}})}));
  infer_shapes(*model);
  const std::unique_ptr<Session> session = open();
  for (const int64_t n : {20, 23, 39, 10, 1, 2, 70, 20, 25, 3}) {
    feed = {Tensor::zeros(DType::kFloat32, Shape{1, n, 16})};
    for (int64_t i = 0; i < feed[0].numel(); ++i)
      feed[0].mutable_data<float>()[i] = static_cast<float>((i * 37 + n) % 101) / 50 - 1;
    expect_near(run(*session)[0], exact()[0], std::to_string(n));
  }
}

// Every axis may be the channel axis, before and after.
TEST_F(EngineTest, AnyAxisBecomesBlocksOfChannels) {
  for (const std::vector<int64_t>& perm :
       {std::vector<int64_t>{1, 0, 2, 3}, {3, 1, 0, 2}, {2, 3, 1, 0}, {0, 3, 2, 1}}) {
    Value* x = input("x" + std::to_string(feed.size()), {2, 16, 3, 32});
    Value* y = op("Transpose",
                  {op("Conv", {x, weight({16, 1, 3, 3})},
                      {{"group", int64_t{16}}, {"pads", std::vector<int64_t>{1, 1, 1, 1}}})},
                  {{"perm", perm}});
    output(op("Relu", {op("MatMul", {y, weight({perm[3] == 3   ? 32
                                                : perm[3] == 2 ? 3
                                                : perm[3] == 1 ? 16
                                                               : 2,
                                                4})})}));
  }
  expect_agreement();
}

TEST_F(EngineTest, PointwiseChainsBroadcast) {
  Value* x = input("x", {3, 7, 5});
  Value* channel = weight({7, 1});
  Value* y = op("Mul", {op("Add", {x, channel}), op("Sigmoid", {x})});
  output(op("Where", {op("Greater", {y, scalar(0)}), y, op("Exp", {x})}));
  output(op("Erf", {op("Div", {x, scalar(1.5F)})}));
  expect_agreement();
}

TEST_F(EngineTest, OutputsMayBeInputsConstantsIntermediatesAndRepeated) {
  Value* x = input("x", {2, 3});
  Value* y = op("Relu", {x});
  g.outputs = {x, weight({4}), y, op("Neg", {y})};
  expect_agreement();
}

TEST_F(EngineTest, TheMaskOfADropoutMayBeAnOutput) {
  Value* x = input("x", {2, 3});
  Value *y = g.add_value("dropped"), *mask = g.add_value("mask");
  g.add_node("Dropout", {x}, {y, mask});
  output(mask);
  output(op("Relu", {y}));
  expect_agreement();
}

TEST_F(EngineTest, NothingIsSlicedBackwards) {
  Value* x = input("x", {0, 3});
  output(op("Slice", {x, ints({5}), ints({3}), ints({0}), ints({-1})}));
  Value* y = input("y", {4, 3});
  output(op("Slice", {y, ints({-1}), ints({std::numeric_limits<int64_t>::min()}), ints({0}),
                      ints({std::numeric_limits<int64_t>::min() + 1})}));
  output(op("Slice", {y, ints({1}), ints({4}), ints({0}), ints({std::numeric_limits<int64_t>::max()})}));
  expect_agreement();
}

TEST_F(EngineTest, EmptyTensorsPassThrough) {
  Value* x = input("x", {0, 8});
  output(op("Relu", {op("MatMul", {x, weight({8, 4})})}));
  output(op("Concat", {x, x}, {{"axis", int64_t{0}}}));
  expect_agreement();
}

TEST_F(EngineTest, WhatHasNoElementsIsNotComputed) {
  // Evaluated by the reference, the product would widen its matrix first.
  Value* x = input("x", {0, 1024});
  output(op("MatMul", {x, weight({1024, 1024})}));
  output(op("CumSum", {input("y", {3, 0}), ints({0})}));
  expect_agreement({"copy", "running_sum"});
}

TEST_F(EngineTest, ShapesThatOnlyTheDataTell) {
  Value* x = input("x", {4, 5});
  Value* where = op("NonZero", {op("Greater", {x, scalar(0)})});
  output(op("Mul", {op("GatherND", {x, op("Transpose", {where})}), scalar(3)}));
  expect_agreement();
}

TEST_F(EngineTest, OneSessionServesManyShapes) {
  Value* x = g.add_input("x", Type::tensor(DType::kFloat32, Dims{Dim::symbol("n"), Dim(16)}));
  output(op("Softmax", {op("MatMul", {x, weight({16, 8})})}));
  infer_shapes(*model);
  const std::unique_ptr<Session> session = open();
  for (const int64_t n : {1, 5, 2, 1, 0, 40, 5, 9, 11, 13, 15, 17, 19, 1}) {
    feed = {random({n, 16})};
    expect_near(run(*session)[0], exact()[0], fmt::format("n = {}", n));
  }
}

/// An omitted bound has no effect: infinities stay.
TEST_F(EngineTest, ClipsOnOneSide) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const auto clips = [&](int64_t opset, const std::string& sides) {
    SCOPED_TRACE(fmt::format("opset {}, {}", opset, sides));
    auto network = std::make_shared<Model>();
    network->opsets = {{"", opset}};
    Graph& own = *network->graph;
    Value* x = own.add_input("x", Type::tensor(DType::kFloat32, Dims{5}));
    Value* y = own.add_value("y");
    const bool low = sides.find('l') != std::string::npos, high = sides.find('h') != std::string::npos;
    const auto bound = [&](float number) {
      return own.add_constant(own.unique_name("bound"), Tensor::scalar<float>(number));
    };
    if (opset >= 11) {
      own.add_node("Clip", {x, low ? bound(-2) : nullptr, high ? bound(2) : nullptr}, {y});
    } else {
      Node* n = own.add_node("Clip", {x}, {y});
      if (low) n->set_attribute("min", -2.0F);
      if (high) n->set_attribute("max", 2.0F);
    }
    own.outputs = {y};
    infer_shapes(*network);
    Tensor got;
    const std::vector<Tensor> inputs = {Tensor::vector<float>({-kInfinity, -3, 0, 3, kInfinity})};
    built_in_backends().get("engine").open({network, {}}, options)->run(inputs, [&](size_t, Tensor t) {
      got = t;
    });
    EXPECT_EQ(std::vector<float>(got.span<float>().begin(), got.span<float>().end()),
              (std::vector<float>{low ? -2 : -kInfinity, low ? -2.0F : -3, 0, high ? 2.0F : 3,
                                  high ? 2 : kInfinity}));
  };
  for (const int64_t opset : {6, 11, 13})
    for (const char* sides : {"", "l", "h", "lh"}) clips(opset, sides);
}

TEST_F(EngineTest, ClipsBehindAProductOnOneSide) {
  Value* product = op("MatMul", {input("x", {4, 8}), weight({8, 8})});
  feed[0].mutable_span<float>()[0] = std::numeric_limits<float>::infinity();
  Value* none = nullptr;
  output(op("Clip", {product, none, scalar(2)}));
  output(op("Clip", {op("MatMul", {g.inputs[0], weight({8, 8})}), scalar(-2)}));
  infer_shapes(*model);
  const std::vector<Tensor> reference = exact(), got = run(*open());
  for (size_t i = 0; i < got.size(); ++i)
    for (int64_t k = 0; k < got[i].numel(); ++k) {
      const double a = got[i].data<float>()[k], b = reference[i].data<double>()[k];
      if (std::isfinite(b))
        EXPECT_NEAR(a, b, 1e-4) << k;
      else
        EXPECT_EQ(a, b) << k;
    }
}

TEST_F(EngineTest, AnIndexOutOfRangeNamesTheNodeAndTheNextRunWorks) {
  Value* x = input("x", {4, 3});
  Value* i = g.add_input("i", Type::tensor(DType::kInt64, Dims{Dim(2)}));
  feed.push_back(Tensor::vector<int64_t>({0, 9}));
  g.add_node("Gather", {x, i}, {g.add_value("y")}, {}, "pick");
  output(g.find_value("y"));
  infer_shapes(*model);
  const std::unique_ptr<Session> session = open();
  try {
    run(*session);
    FAIL() << "index 9 of 4 was accepted";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("pick"), std::string::npos) << e.what();
  }
  feed[1] = Tensor::vector<int64_t>({3, -4});
  expect_near(run(*session)[0], exact()[0], "y");
}

}  // namespace
}  // namespace assay::engine_test
