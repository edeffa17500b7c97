// Convolutions by one tactic of many forms, on any number of threads.
#include "assay/builder.h"
#include "assay/runtime.h"
#include "backends/engine_fixture.h"

namespace assay::engine_window_test {
namespace {

struct ChosenSteps final : AlgorithmSelector {
  std::multiset<std::string> names;
  std::optional<std::vector<size_t>> select_algorithms(const std::vector<std::string>&,
                                                       const std::vector<Algorithm>&) override {
    return std::nullopt;
  }
  void report_algorithms(const std::vector<std::string>&, const Algorithm& algorithm) override {
    names.insert(algorithm.name);
  }
};

class EngineWindowTest : public EngineTest {
 protected:
  using Ints = std::vector<int64_t>;

  Value* conv(const Shape& in, const Shape& w, AttributeList attributes, bool with_bias = true) {
    std::vector<Value*> inputs = {input("x" + std::to_string(feed.size()), in), weight(w)};
    if (with_bias) inputs.push_back(weight({w[0]}));
    return op("Conv", inputs, std::move(attributes));
  }

  static void expect_equal(const Tensor& got, const Tensor& wanted) {
    ASSERT_EQ(got.shape(), wanted.shape());
    const Tensor b = convert(wanted, DType::kFloat32);
    float top = 1;
    for (const float y : b.span<float>()) top = std::max(top, std::isfinite(y) ? std::abs(y) : 0);
    for (int64_t k = 0; k < got.numel(); ++k) {
      const float x = got.data<float>()[k], y = b.data<float>()[k];
      if (std::isfinite(y))
        ASSERT_NEAR(x, y, 1e-5F * top) << k;
      else
        ASSERT_TRUE(std::isnan(y) ? std::isnan(x) : x == y) << k << ": " << x << " for " << y;
    }
  }

  /// `count` steps (nothing: any number) run by `tactic` when competing ones are disabled, before and after
  /// the plan was saved.
  void expect_by(const std::string& tactic, std::optional<size_t> count,
                 const std::vector<std::string>& rivals,
                 std::initializer_list<int> thread_counts = {1, 2, 3, 5, 16}) {
    if (tactic.ends_with("blocked16") && !has_blocks_of_16())
      GTEST_SKIP() << "in part: this processor has no AVX-512, for which " << tactic << " is";
    infer_shapes(*model);
    const std::vector<Tensor> reference = exact();
    for (const int threads : thread_counts) {
      SCOPED_TRACE(threads);
      BuilderConfig config{.optimization_level = 0};
      config.disabled_tactics = rivals;
      config.disabled_passes = {"fold_empty"};  // steps of nothing are tried, too
      ChosenSteps steps;
      config.algorithm_selector = &steps;
      const Runtime runtime({.threads = threads});
      const auto engine =
          runtime.deserialize_engine(Builder(runtime).build_serialized_network(model, config));
      EXPECT_EQ(steps.names.count(tactic), count.value_or(steps.names.count(tactic)));
      const auto context = engine->create_execution_context();
      for (int repeat = 0; repeat < 2; ++repeat) {
        const std::vector<Tensor> y = context->infer(feed);
        for (size_t i = 0; i < y.size(); ++i) expect_equal(y[i], reference[i]);
      }
    }
  }
};

/// Tactics for plain convolutions other than dnnl_conv:channels_last, and the reference.
const std::vector<std::string> kBesideChannelsLast = {"dnnl_conv:row",
                                                      "dnnl_conv:blocked8",
                                                      "dnnl_conv:blocked16",
                                                      "dnnl_conv:row to blocked8",
                                                      "dnnl_conv:row to blocked16",
                                                      "panel_conv",
                                                      "depthwise_conv1d",
                                                      "kn2row_conv",
                                                      "winograd_conv",
                                                      "winograd_1d",
                                                      "image_conv"};

TEST_F(EngineWindowTest, RowsOfImagesWithChannelsLast) {
  const Ints around = {1, 1, 1, 1};
  output(op("Relu", {conv({1, 24, 7, 9}, {40, 24, 3, 3}, {{"pads", around}})}));
  output(conv({1, 16, 9, 6}, {33, 16, 3, 3}, {{"pads", around}, {"strides", Ints{2, 2}}}, false));
  // Windows that reach over several parts, and past both ends of a part.
  output(conv({1, 8, 6, 11}, {16, 8, 5, 3},
              {{"dilations", Ints{2, 1}}, {"pads", Ints{4, 0, 4, 1}}, {"strides", Ints{1, 3}}}));
  output(conv({3, 20, 5, 4}, {12, 20, 1, 1}, {}));
  output(conv({2, 17, 13}, {18, 17, 4}, {{"pads", Ints{1, 2}}, {"strides", Ints{2}}}));
  output(conv({1, 9, 4, 3, 5}, {16, 9, 3, 2, 2}, {{"pads", Ints{1, 0, 1, 1, 1, 0}}}));
  Value* x = conv({1, 16, 8, 8}, {32, 16, 1, 1}, {});
  Value* sum = op("Add", {x, input("r", {1, 32, 8, 8})});
  output(op("Relu", {sum}));
  output(op("Mul", {conv({1, 16, 5, 8}, {32, 16, 3, 3}, {{"pads", around}}), input("s", {1, 1, 5, 1})}));
  // One column of pixels: of several images, with what is added to all of them.
  output(op("Add", {conv({5, 13, 2, 1}, {14, 13, 1, 1}, {{"strides", Ints{1, 3}}}), input("t", {14, 1, 1})}));
  output(op("Add", {conv({2, 13, 3}, {15, 13, 1}, {}), input("u", {2, 1, 1})}));
  expect_by("dnnl_conv:channels_last", 10, kBesideChannelsLast);
}

// oneDNN's kernels for channels last that cannot compute these are refused: windows of padding alone, before,
// behind and between the taps.
TEST_F(EngineWindowTest, WindowsOfPaddingAlone) {
  output(conv({1, 3, 1, 29}, {3, 3, 1, 1}, {{"pads", Ints{0, 2, 0, 2}}}));
  output(conv({1, 16, 1, 8}, {32, 16, 1, 1}, {{"pads", Ints{2, 0, 2, 0}}}));
  output(conv({2, 17, 4, 11}, {30, 17, 2, 4}, {{"dilations", Ints{5, 1}}, {"pads", Ints{1, 0, 1, 2}}}));
  // Those for AVX2 can compute one of them.
  const std::optional<size_t> count = has_blocks_of_16() ? std::optional<size_t>(0) : std::nullopt;
  expect_by("dnnl_conv:channels_last", count, kBesideChannelsLast, {1, 2});
}

// Images of one pixel are both row-major and channels last.
TEST_F(EngineWindowTest, PixelsWithChannelsLast) {
  Value* x = conv({1, 13, 1}, {13, 13, 1}, {{"strides", Ints{3}}});
  output(op("Add", {x, input("r", {1, 13, 1})}));
  output(conv({1, 17, 1, 1}, {1, 17, 1, 1}, {}));
  output(conv({1, 1, 7, 9}, {1, 1, 3, 3}, {{"pads", Ints{1, 1, 1, 1}}}));
  expect_by("dnnl_conv:channels_last", 0, kBesideChannelsLast);
}

TEST_F(EngineWindowTest, GroupsInLanes) {
  const Ints around = {1, 1, 1, 1};
  const auto grouped = [&](int64_t groups, AttributeList attributes) {
    attributes.push_back({"group", groups});
    return attributes;
  };
  output(op("Relu", {conv({2, 128, 9, 11}, {128, 4, 3, 3}, grouped(32, {{"pads", around}}))}));
  output(conv({1, 56, 7, 7}, {56, 8, 3, 3}, grouped(7, {{"pads", around}, {"strides", Ints{2, 2}}}), false));
  output(conv({1, 48, 5, 6}, {48, 24, 3, 3},
              grouped(2, {{"dilations", Ints{2, 1}}, {"pads", Ints{2, 0, 2, 1}}})));
  output(op("Sigmoid", {conv({3, 15, 13}, {21, 5, 2}, grouped(3, {{"pads", Ints{1, 3}}}))}));
  output(conv({1, 6, 3, 4, 5}, {12, 2, 2, 1, 3}, grouped(3, {})));
  Value* sum =
      op("Add", {conv({1, 64, 1, 40}, {640, 32, 1, 3}, grouped(2, {})), input("other", {1, 640, 1, 38})});
  output(op("Mul", {sum, weight({640, 1, 1})}));
  expect_by("narrow_group_conv", 6, {"dnnl_conv"});
}

TEST_F(EngineWindowTest, WindowsOfSingleChannels) {
  const auto single = [&](const Shape& in, Ints kernel, AttributeList attributes, bool with_bias = true) {
    Shape w = {in[1], 1};
    for (const int64_t k : kernel) w.push_back(k);
    attributes.push_back({"group", in[1]});
    return conv(in, w, std::move(attributes), with_bias);
  };
  output(op("Relu", {single({2, 40, 9, 29}, {3, 3}, {{"pads", Ints{1, 1, 1, 1}}})}));
  output(
      op("Sigmoid", {single({1, 7, 15, 14}, {5, 5}, {{"pads", Ints{2, 2, 2, 2}}, {"strides", Ints{2, 2}}})}));
  output(op("HardSwish", {single({1, 100, 7, 7}, {7, 7}, {{"pads", Ints{3, 3, 3, 3}}}, false)}));
  output(single({3, 32, 8, 6}, {3, 2},
                {{"pads", Ints{2, 0, 0, 3}}, {"dilations", Ints{2, 1}}, {"strides", Ints{1, 3}}}));
  output(single({1, 64, 300}, {4}, {{"pads", Ints{1, 2}}, {"dilations", Ints{5}}}));
  // Of one pixel a whole operand is one of its channels.
  output(op("Add", {single({1, 37, 3, 3}, {3, 3}, {}), input("one", {1, 37, 1, 1})}));
  const auto forty = [&] { return single({2, 40, 6, 5}, {3, 3}, {{"pads", Ints{1, 1, 1, 1}}}); };
  for (Value* x : ends(forty, {2, 40, 6, 5})) output(x);
  expect_by("depthwise_conv:channels_last", 10, {"dnnl_conv", "depthwise_conv1d"});
  // In blocks of 16 channels, where functions of the padding in the last one are not 0.
  expect_by("depthwise_conv:blocked16", 10, {"dnnl_conv", "depthwise_conv1d", "depthwise_conv:channels_last"},
            {2});
}

TEST_F(EngineWindowTest, ImagesOfFewChannels) {
  const Ints around = {1, 1, 1, 1};
  output(op("Relu", {conv({2, 3, 19, 30}, {24, 3, 3, 3}, {{"pads", around}, {"strides", Ints{2, 2}}})}));
  output(op("HardSwish", {conv({1, 1, 9, 7}, {16, 1, 5, 3}, {{"pads", Ints{4, 0, 0, 1}}}, false)}));
  output(conv({3, 4, 40}, {33, 4, 7}, {{"pads", Ints{3, 9}}, {"dilations", Ints{2}}, {"strides", Ints{3}}}));
  const auto eight = [&] { return conv({2, 2, 10, 10}, {8, 2, 3, 3}, {{"pads", around}}); };
  for (Value* x : ends(eight, {2, 8, 10, 10})) output(x);
  const std::vector<std::string> others = {"dnnl_conv", "panel_conv", "kn2row_conv", "winograd_conv",
                                           "winograd_1d"};
  expect_by("image_conv:channels_last", 7, others);
  std::vector<std::string> blocked = others;
  blocked.push_back("image_conv:channels_last");
  expect_by("image_conv:blocked16", 7, blocked, {2});
}

TEST_F(EngineWindowTest, ResultsOfFewChannels) {
  const Ints around = {1, 1, 1, 1};
  output(op("Sigmoid", {conv({2, 40, 9, 13}, {3, 40, 3, 3}, {{"pads", around}, {"strides", Ints{2, 1}}})}));
  output(conv({1, 16, 50}, {1, 16, 7}, {{"pads", Ints{3, 9}}, {"dilations", Ints{2}}}, false));
  output(conv({3, 64, 5, 6}, {8, 64, 1, 1}, {}));
  const auto three = [&] { return conv({2, 21, 6, 7}, {3, 21, 3, 3}, {{"pads", around}}); };
  for (Value* x : ends(three, {2, 3, 6, 7})) output(x);
  const std::vector<std::string> others = {"dnnl_conv", "panel_conv", "kn2row_conv", "winograd_conv",
                                           "winograd_1d"};
  std::vector<std::string> last = others, blocked = others;
  last.push_back("few_output_conv:blocked16");
  expect_by("few_output_conv:channels_last", 7, last);
  blocked.push_back("few_output_conv:channels_last");
  expect_by("few_output_conv:blocked16", 7, blocked, {2});
}

TEST_F(EngineWindowTest, InfinitiesAndNanInSingleChannels) {
  output(conv({1, 24, 6, 5}, {24, 1, 3, 3}, {{"group", int64_t{24}}, {"pads", Ints{1, 1, 1, 1}}}));
  feed[0].mutable_data<float>()[3 * 30 + 12] = INFINITY;
  feed[0].mutable_data<float>()[23 * 30 + 29] = NAN;
  expect_by("depthwise_conv:channels_last", 1, {"dnnl_conv"}, {2});
}

TEST_F(EngineWindowTest, PoolingInVectorsOfChannels) {
  const Ints three = {3, 3}, around = {1, 1, 1, 1};
  Value* x = input("x", {2, 37, 9, 11});
  output(op("MaxPool", {x}, {{"kernel_shape", three}, {"strides", Ints{2, 2}}, {"pads", around}}));
  output(
      op("MaxPool", {x}, {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}, {"ceil_mode", int64_t{1}}}));
  output(op("AveragePool", {x}, {{"kernel_shape", three}, {"pads", around}}));
  output(
      op("AveragePool", {x}, {{"kernel_shape", three}, {"pads", around}, {"count_include_pad", int64_t{1}}}));
  output(op("GlobalAveragePool", {x}));
  output(op("GlobalMaxPool", {x}));
  output(op("ReduceMean", {x, ints({-1, 2})}));
  output(op("MaxPool", {input("signal", {1, 20, 50})}, {{"kernel_shape", Ints{4}}, {"dilations", Ints{3}}}));
  feed[0].mutable_data<float>()[3 * 99 + 12] = INFINITY;
  feed[0].mutable_data<float>()[36 * 99 + 98] = NAN;
  expect_by("channel_pool:channels_last", 8, {"dnnl_pool", "reduce", "channel_pool:blocked16"});
  expect_by("channel_pool:blocked16", 8, {"dnnl_pool", "reduce", "channel_pool:channels_last"}, {2});
}

TEST_F(EngineWindowTest, MeansOfLargeFlatImages) {
  // One sum of this many equal numbers is off by 3e-4 of it: all roundings have one sign.
  Value* x = input("x", {1, 37, 160, 160});
  output(op("GlobalAveragePool", {x}));
  output(op("ReduceMean", {x, ints({2, 3})}));
  for (int64_t i = 0; i < feed[0].numel(); ++i) feed[0].mutable_data<float>()[i] = -0.8042F;
  expect_by("channel_pool:channels_last", 2, {"reduce", "channel_pool:blocked16"}, {2});
  expect_by("channel_pool:blocked16", 2, {"reduce", "channel_pool:channels_last"}, {2});
  expect_by("reduce", 2, {"channel_pool"}, {1, 2});
}

TEST_F(EngineWindowTest, LargestOfNothingButMinusInfinity) {
  const Ints three = {3, 3}, around = {1, 1, 1, 1};
  Value* x = input("x", {2, 37, 9, 11});
  output(op("MaxPool", {x}, {{"kernel_shape", three}, {"strides", Ints{2, 2}}, {"pads", around}}));
  output(op("MaxPool", {x}, {{"kernel_shape", Ints{2, 2}}, {"dilations", Ints{2, 3}}}));
  output(op("GlobalMaxPool", {x}));
  float* numbers = feed[0].mutable_data<float>();
  std::fill_n(numbers + 99 * 18, 99, -INFINITY);
  std::fill_n(numbers + 99 * 73 + 30, 60, -INFINITY);
  numbers[99 * 40] = std::numeric_limits<float>::lowest();
  std::fill_n(numbers + 99 * 40 + 1, 98, -INFINITY);
  expect_by("dnnl_pool:row", 3,
            {"channel_pool", "max_pool", "reduce", "dnnl_pool:blocked8", "dnnl_pool:blocked16"}, {1, 2, 5});
  expect_by("dnnl_pool:blocked16", 3, {"channel_pool", "max_pool", "reduce", "dnnl_pool:row"}, {2});
}

TEST_F(EngineWindowTest, LargestBytesWithChannelsLast) {
  const Ints three = {3, 3}, around = {1, 1, 1, 1};
  for (const DType type : {DType::kUInt8, DType::kInt8}) {
    Value* x = op("Mul", {input("x" + std::to_string(feed.size()), {2, 37, 9, 11}), scalar(100)});
    if (type == DType::kUInt8) x = op("Add", {x, scalar(120)});
    Value* bytes = op("Cast", {x}, {{"to", static_cast<int64_t>(type)}});
    for (AttributeList attributes :
         {AttributeList{{"kernel_shape", three}, {"strides", Ints{2, 2}}, {"pads", around}},
          AttributeList{{"kernel_shape", Ints{2, 2}}, {"dilations", Ints{2, 3}}}})
      output(op("Cast", {op("MaxPool", {bytes}, std::move(attributes))},
                {{"to", static_cast<int64_t>(DType::kFloat32)}}));
  }
  expect_by("max_pool:channels_last", 4, {"max_pool:row"}, {1, 2, 5});
}

TEST_F(EngineWindowTest, ResizedInfinityIsMultipliedByNoZero) {
  Value* x = input("x", {1, 5, 4});
  output(op("Resize", {x, nullptr, nullptr, g.add_constant("i", Tensor::vector<int64_t>({1, 5, 8}))},
            {{"mode", std::string("cubic")}}));
  feed[0].mutable_data<float>()[1] = -INFINITY;
  expect_by("resize:row", 1, {"resize:blocked16", "resize:channels_last"});
}

TEST_F(EngineWindowTest, NothingInBlocksInItsPlace) {
  Value* x = input("x", {2, 3, 4, 0});
  Value* y = op("GatherElements", {x, g.add_constant("i", Tensor::zeros(DType::kInt64, {2, 3, 4, 0}))});
  output(op("Sub", {y, op("Sin", {y})}));
  expect_by("pointwise:blocked16", 1, {"pointwise:row", "pointwise:channels_last"}, {2});
}

/// An image of one channel is the same memory in every layout, and its elements must become those of an
/// output.
TEST_F(EngineWindowTest, BytesOfOneChannelAsAnOutput) {
  Value* x = input("x", {3, 1, 5, 17});
  Value* scale = scalar(0.043F);
  Value* zero = g.add_constant("z", Tensor::scalar(uint8_t{128}));
  output(op("DequantizeLinear", {op("QuantizeLinear", {x, scale, zero}), scale, zero}));
  infer_shapes(*model);
  BuilderConfig config{.optimization_level = 0};
  config.pinned_tactics = {{g.outputs[0]->producer()->name, "view:int8_channels_last"}};
  const Runtime runtime({.threads = 2});
  const auto engine = runtime.deserialize_engine(Builder(runtime).build_serialized_network(model, config));
  expect_equal(engine->create_execution_context()->infer(feed)[0], exact()[0]);
}

/// Steps on whole tensors use row-major operands, also where other layouts are the same memory.
TEST_F(EngineWindowTest, BytesBeforeAPlainEvaluation) {
  Value* x = input("x", {5, 1, 7});
  Value* scale = scalar(0.043F);
  Value* zero = g.add_constant("z", Tensor::scalar(uint8_t{128}));
  Value* y = op("DequantizeLinear", {op("QuantizeLinear", {x, scale, zero}), scale, zero});
  output(op("Hardmax", {y}));
  output(op("Hardmax", {op("Transpose", {y}, {{"perm", Ints{1, 2, 0}}})}));
  infer_shapes(*model);
  const Runtime runtime({.threads = 2});
  for (const char* way : {"view:int8_channels_last", "view:int8_row", "pointwise:channels_last"})
    for (const int level : {0, 1, 3}) {
      BuilderConfig config{.optimization_level = level};
      config.pinned_tactics = {{y->producer()->name, way}};
      for (const Value* v : g.outputs) config.pinned_tactics[v->producer()->name] = "evaluate";
      const auto engine =
          runtime.deserialize_engine(Builder(runtime).build_serialized_network(model, config));
      const std::vector<Tensor> given = engine->create_execution_context()->infer(feed), wanted = exact();
      for (size_t i = 0; i < given.size(); ++i) expect_equal(given[i], wanted[i]);
    }
}

/// Parts of few channels, next to each other in every pixel.
TEST_F(EngineWindowTest, ChannelsSideBySide) {
  Value* x = conv({2, 12, 9, 9}, {20, 12, 3, 3}, {{"pads", Ints{1, 1, 1, 1}}});
  Value* y = op("Relu", {x});
  output(op("Concat", {y, op("Sigmoid", {x}), x}, {{"axis", int64_t{1}}}));
  expect_by("concat:channels_last", 1, {"dnnl_conv", "winograd_conv", "kn2row_conv", "concat:row"}, {1, 2});
}

TEST_F(EngineWindowTest, InfinitiesAndNanInGroups) {
  output(conv({1, 24, 5, 5}, {24, 4, 3, 3}, {{"group", int64_t{6}}, {"pads", Ints{1, 1, 1, 1}}}));
  feed[0].mutable_data<float>()[3 * 25 + 12] = INFINITY;
  feed[0].mutable_data<float>()[23 * 25 + 24] = NAN;
  expect_by("narrow_group_conv", 1, {"dnnl_conv"}, {2});
}

TEST_F(EngineWindowTest, TapByTap) {
  const Ints around = {1, 1, 1, 1};
  output(op("Relu", {conv({2, 7, 9, 11}, {20, 7, 3, 3}, {{"pads", around}, {"strides", Ints{2, 1}}})}));
  output(
      conv({1, 16, 13, 13}, {33, 16, 3, 3}, {{"pads", Ints{12, 12, 12, 12}}, {"dilations", Ints{12, 12}}}));
  output(
      op("Sigmoid", {conv({1, 5, 700}, {40, 5, 3}, {{"pads", Ints{4, 4}}, {"dilations", Ints{4}}}, false)}));
  output(conv({1, 9, 6, 5}, {4, 9, 1, 1}, {{"strides", Ints{2, 2}}}));
  output(conv({1, 4, 3, 4, 5}, {6, 4, 2, 2, 3}, {{"pads", Ints{1, 0, 1, 0, 1, 1}}}));
  // More than one block of columns, more than one tile of rows, deeper than a block of weights.
  Value* x = conv({1, 260, 30, 17}, {150, 260, 3, 3}, {{"pads", around}});
  output(op("Relu", {op("Add", {x, input("other", {1, 150, 30, 17})})}));
  expect_by("kn2row_conv", 6, {"dnnl_conv", "panel_conv", "few_output_conv", "winograd_conv", "winograd_1d"});
}

TEST_F(EngineWindowTest, TransposedTapByTap) {
  const auto transposed = [&](const Shape& in, const Shape& w, AttributeList attributes,
                              bool with_bias = true) {
    std::vector<Value*> inputs = {input("x" + std::to_string(feed.size()), in), weight(w)};
    if (with_bias) inputs.push_back(weight({w[1]}));
    return op("ConvTranspose", inputs, std::move(attributes));
  };
  const Ints two = {2, 2};
  output(op("LeakyRelu",
            {transposed({2, 20, 4, 5}, {20, 7, 3, 3},
                        {{"strides", two}, {"pads", Ints{1, 1, 1, 1}}, {"output_padding", Ints{1, 1}}})}));
  output(transposed({1, 16, 7, 3}, {16, 40, 2, 2}, {{"strides", two}}, false));
  output(op("Relu", {transposed({1, 6, 90}, {6, 33, 16}, {{"strides", Ints{8}}, {"pads", Ints{4, 4}}})}));
  output(transposed({1, 3, 5, 5}, {3, 4, 3, 3}, {{"strides", two}, {"output_shape", Ints{10, 10}}}));
  output(transposed({1, 3, 5, 5}, {3, 4, 3, 3}, {{"strides", two}, {"auto_pad", std::string("SAME_LOWER")}}));
  output(transposed({1, 2, 3, 2, 2}, {2, 3, 2, 3, 1},
                    {{"strides", Ints{1, 2, 3}}, {"dilations", Ints{2, 1, 1}}}));
  output(op("Add",
            {transposed({2, 8, 6, 6}, {8, 8, 4, 4}, {{"strides", two}}), input("other", {2, 8, 14, 14})}));
  expect_by("kn2row_conv", 7, {"dnnl_deconv"});
}

TEST_F(EngineWindowTest, AlongOneAxisAfterWinograd) {
  output(op("Relu", {conv({2, 40, 33}, {20, 40, 3}, {{"pads", Ints{1, 1}}})}));
  output(conv({1, 13, 50}, {33, 13, 11}, {{"pads", Ints{30, 20}}, {"dilations", Ints{5}}}, false));
  output(op("Sigmoid", {conv({1, 50, 7, 9}, {40, 50, 7, 1}, {{"pads", Ints{3, 0, 3, 0}}})}));
  output(conv({3, 64, 5, 6}, {150, 64, 1, 3}, {{"pads", Ints{0, 2, 0, 2}}, {"dilations", Ints{1, 2}}}));
  output(conv({1, 48, 3, 4, 5}, {16, 48, 1, 2, 1}, {}));
  output(conv({1, 130, 2}, {300, 130, 4}, {{"pads", Ints{3, 40}}, {"dilations", Ints{7}}}));
  Value* x = conv({1, 100, 1000}, {170, 100, 5}, {{"pads", Ints{4, 0}}});
  output(op("Relu", {op("Add", {x, input("other", {1, 170, 1000})})}));
  expect_by("winograd_1d", 7, {"dnnl_conv", "panel_conv", "few_output_conv", "kn2row_conv"});
}

TEST_F(EngineWindowTest, InfinitiesAndNanAlongOneAxis) {
  output(op("Relu", {conv({1, 24, 41}, {24, 24, 7}, {{"pads", Ints{6, 6}}, {"dilations", Ints{2}}})}));
  feed[0].mutable_data<float>()[3 * 41 + 12] = INFINITY;
  feed[0].mutable_data<float>()[4 * 41 + 12] = -INFINITY;
  feed[0].mutable_data<float>()[23 * 41 + 40] = NAN;
  expect_by("winograd_1d", 1, {"dnnl_conv", "panel_conv", "few_output_conv", "kn2row_conv"}, {2});
}

/// Algorithms that round more than a plain sum are used only if allowed.
TEST_F(EngineWindowTest, FewTermsAreNotTransformed) {
  output(conv({1, 31, 20}, {16, 31, 3}, {}));
  expect_by("winograd_1d", 0, {"dnnl_conv", "panel_conv", "few_output_conv", "kn2row_conv"}, {2});
}

TEST_F(EngineWindowTest, InfinitiesAndNanTapByTap) {
  output(conv({1, 24, 5, 5}, {24, 24, 3, 3}, {{"pads", Ints{1, 1, 1, 1}}}));
  output(op("ConvTranspose", {g.inputs[0], weight({24, 5, 3, 3})}, {{"strides", Ints{2, 2}}}));
  feed[0].mutable_data<float>()[3 * 25 + 12] = INFINITY;
  feed[0].mutable_data<float>()[23 * 25 + 24] = NAN;
  expect_by("kn2row_conv", 2,
            {"dnnl_conv", "dnnl_deconv", "panel_conv", "few_output_conv", "winograd_conv", "winograd_1d"},
            {2});
}

}  // namespace
}  // namespace assay::engine_window_test
