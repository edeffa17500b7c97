// Convolutions and matrix products by panels of weights in 32 or 16 bits.
#include "assay/builder.h"
#include "assay/runtime.h"
#include "backends/engine_fixture.h"

namespace assay::engine_panel_test {
namespace {

/// The choice with everything allowed.
struct AlgorithmNames final : AlgorithmSelector {
  std::multiset<std::string> chosen;
  std::optional<std::vector<size_t>> select_algorithms(const std::vector<std::string>&,
                                                       const std::vector<Algorithm>&) override {
    return std::nullopt;
  }
  void report_algorithms(const std::vector<std::string>&, const Algorithm& algorithm) override {
    chosen.insert(algorithm.name);
  }
};

class EnginePanelTest : public EngineTest {
 protected:
  using Ints = std::vector<int64_t>;

  /// The tactics at level 0; expects the first output to be right.
  std::multiset<std::string> chosen_without_measurements() {
    infer_shapes(*model);
    AlgorithmNames names;
    BuilderConfig config{.optimization_level = 0};
    config.algorithm_selector = &names;
    const Runtime runtime({.threads = 2});
    const auto engine = Builder(runtime).build_engine(model, config);
    expect_near(engine->create_execution_context()->infer(feed)[0], exact()[0], "output");
    return names.chosen;
  }

  /// The blocked layout of this processor's kernels; empty: none.
  static std::string blocks() {
    for (const engine::Layout layout : engine::cpu_target()->layouts())
      if (layout.is_blocked()) return layout.str();
    return {};
  }

  Value* conv(const Shape& in, const Shape& w, AttributeList attributes, bool with_bias = true) {
    std::vector<Value*> inputs = {input("x" + std::to_string(feed.size()), in), weight(w)};
    if (with_bias) inputs.push_back(weight({w[0]}));
    return op("Conv", inputs, std::move(attributes));
  }

  /// Leaves out products of bfloat16, and convolutions that read or write it; `suffix`: of their layout.
  static void disable_bfloat16(BuilderConfig& config, const std::string& suffix = {}) {
    for (const char* stored : {"", "_reads", "_stores", "_reads_stores"}) {
      for (const char* tactic : {"panel_conv", "panel_matmul"})
        config.disabled_tactics.push_back(fmt::format("{}:bfloat16_products{}{}", tactic, stored, suffix));
      if (*stored == '\0') continue;
      for (const char* tile : {"2x2", "4x4"})
        config.disabled_tactics.push_back(fmt::format("winograd_conv:{}{}", tile, stored));
    }
  }

  /// Every convolution and product runs by panels stored as `storage`, `count` of them, before and after the
  /// plan was saved, and is within the rounding of that type.
  void expect_panels(const std::string& storage, size_t count) {
    infer_shapes(*model);
    const bool fp16 = storage == "float16", bf16 = storage == "bfloat16";
    BuilderConfig config{.optimization_level = 0, .fp16 = fp16, .bf16 = bf16};
    config.disabled_tactics = {"dnnl_conv",   "image_conv",      "few_output_conv", "kn2row_conv",
                               "winograd_1d", "winograd_conv",   "dnnl_matmul",     "gemv",
                               "group_conv",  "depthwise_conv1d"};
    disable_bfloat16(config);
    for (const char* other : {"float32", "float16", "bfloat16"})
      if (storage != other)
        for (const char* tactic : {"panel_conv", "panel_matmul"})
          config.disabled_tactics.push_back(fmt::format("{}:{}", tactic, other));
    const Runtime runtime({.threads = 2});
    const auto engine = runtime.deserialize_engine(Builder(runtime).build_serialized_network(model, config));
    const std::vector<Tensor> reference = exact();
    const double unit = fp16 ? 0x1p-11 : bf16 ? 0x1p-8 : 2e-6;
    const auto context = engine->create_execution_context();
    for (int repeat = 0; repeat < 2; ++repeat) {
      const std::vector<Tensor> y = context->infer(feed);
      for (size_t i = 0; i < y.size(); ++i) {
        ASSERT_EQ(y[i].shape(), reference[i].shape());
        const Tensor exactly = convert(reference[i], DType::kFloat64);
        double top = 1e-3;
        for (const double v : exactly.span<double>()) top = std::max(top, std::abs(v));
        for (int64_t k = 0; k < y[i].numel(); ++k)
          ASSERT_NEAR(y[i].data<float>()[k], exactly.data<double>()[k], 4 * unit * top)
              << storage << " output " << i;
      }
    }
    engine::BuildConfig built = engine::default_config(2);
    built.tactics.disabled = {config.disabled_tactics.begin(), config.disabled_tactics.end()};
    built.precisions = {.float16 = fp16, .bfloat16 = bf16};
    std::vector<Shape> shapes;
    for (const Tensor& t : feed) shapes.push_back(t.shape());
    std::multiset<std::string> got;
    const auto made = engine::PlanBuilder(*model, built).build(shapes);
    for (const engine::Step& s : made->steps) got.insert(engine::tactic_text(s));
    EXPECT_EQ(got.count("panel_conv:" + storage) + got.count("panel_matmul:" + storage), count);
    EXPECT_EQ(got.count("evaluate"), 0U);
  }
  /// With one to three threads, `count` steps run by `way`, and every output is right.
  void expect_chosen(BuilderConfig config, const std::string& way, size_t count) {
    const std::vector<Tensor> reference = exact();
    for (const int threads : {1, 2, 3}) {
      const Runtime runtime({.threads = threads});
      AlgorithmNames names;
      config.algorithm_selector = &names;
      const auto engine =
          runtime.deserialize_engine(Builder(runtime).build_serialized_network(model, config));
      const std::vector<Tensor> y = engine->create_execution_context()->infer(feed);
      for (size_t i = 0; i < y.size(); ++i) expect_near(y[i], reference[i], way);
      EXPECT_EQ(names.chosen.count(way), count) << way;
    }
  }
  void expect_every_form(size_t count) {
    for (const char* storage : {"float32", "float16", "bfloat16"}) expect_panels(storage, count);
  }
};

TEST_F(EnginePanelTest, WindowsOfEveryKind) {
  output(conv({2, 3, 9, 11}, {20, 3, 3, 3}, {{"pads", Ints{1, 1, 1, 1}}, {"strides", Ints{2, 1}}}));
  output(conv({1, 16, 6, 5}, {33, 16, 1, 1}, {}, false));
  output(conv({1, 5, 7, 8}, {4, 5, 2, 3}, {{"dilations", Ints{2, 2}}, {"pads", Ints{0, 2, 3, 1}}}));
  output(conv({2, 7, 13}, {18, 7, 5}, {{"pads", Ints{4, 0}}}));
  output(conv({1, 4, 3, 4, 5}, {6, 4, 2, 2, 3}, {{"pads", Ints{1, 0, 1, 0, 1, 1}}}));
  // The left operand is deeper than a block, and there is more than one tile of rows and columns.
  output(conv({1, 40, 17, 18}, {300, 40, 3, 3}, {{"pads", Ints{1, 1, 1, 1}}}));
  expect_every_form(6);
}

TEST_F(EnginePanelTest, EpiloguesOnTiles) {
  Value* x = conv({2, 24, 6, 7}, {40, 24, 1, 1}, {});
  Value* other = input("other", {2, 40, 6, 7});
  output(op("Relu", {op("Add", {x, other})}));
  output(op("Mul", {conv({1, 8, 5, 5}, {16, 8, 3, 3}, {}), scalar(0.5F)}));
  output(op("Sigmoid", {conv({1, 8, 5, 5}, {19, 8, 3, 3}, {})}));
  expect_every_form(3);
}

TEST_F(EnginePanelTest, WinogradOfEveryKind) {
  const Ints around = {1, 1, 1, 1};
  output(conv({2, 16, 9, 11}, {24, 16, 3, 3}, {{"pads", around}}));
  output(conv({1, 8, 6, 5}, {8, 8, 3, 3}, {{"pads", Ints{0, 2, 1, 0}}}, false));
  output(op("Sigmoid", {conv({3, 40, 13, 3}, {136, 40, 3, 3}, {})}));
  // More than one block of columns, more tiles than a block has.
  Value* x = conv({1, 64, 40, 41}, {160, 64, 3, 3}, {{"pads", around}});
  output(op("Relu", {op("Add", {x, input("other", {1, 160, 40, 41})})}));
  output(op("Relu",
            {conv({2, 16, 13, 9}, {8, 16, 3, 3}, {{"dilations", Ints{2, 4}}, {"pads", Ints{2, 4, 2, 4}}})}));
  output(conv({1, 8, 7, 7}, {8, 8, 3, 3}, {{"dilations", Ints{9, 1}}, {"pads", Ints{9, 1, 9, 1}}}));
  infer_shapes(*model);
  for (const char* m : {"2x2", "4x4"}) {
    BuilderConfig config{.optimization_level = 0, .bf16 = true};  // 4x4 rounds more
    config.disabled_tactics = {"dnnl_conv",
                               "image_conv",
                               "few_output_conv",
                               "panel_conv",
                               "kn2row_conv",
                               "winograd_conv:" + std::string(m == std::string("2x2") ? "4x4" : "2x2"),
                               "winograd_conv:2x2 " + blocks(),
                               "winograd_conv:4x4 " + blocks()};
    disable_bfloat16(config);
    expect_chosen(config, "winograd_conv:" + std::string(m), 6);
  }
}

/// Small groups, whose channels are transformed for a block of columns, one and several of them, and large
/// ones.
TEST_F(EnginePanelTest, WinogradOfGroups) {
  const Ints around = {1, 1, 1, 1};
  const auto in_groups = [&](const Shape& x, const Shape& w, int64_t groups) {
    return conv(x, w, {{"pads", around}, {"group", groups}});
  };
  Value* x = in_groups({2, 192, 9, 11}, {192, 32, 3, 3}, 6);
  output(op("Relu", {op("Add", {x, input("other", {2, 192, 9, 11})})}));
  output(in_groups({1, 160, 30, 33}, {80, 32, 3, 3}, 5));
  output(op("Sigmoid", {in_groups({1, 128, 5, 7}, {128, 64, 3, 3}, 2)}));
  output(in_groups({1, 96, 7, 7}, {288, 32, 3, 3}, 3));
  output(op("Relu", {in_groups({1, 256, 6, 5}, {160, 128, 3, 3}, 2)}));
  infer_shapes(*model);
  std::vector<std::string> ways = {"winograd_conv:2x2", "winograd_conv:4x4"};
  if (const std::string block = blocks(); !block.empty())
    for (const size_t m : {0, 1}) ways.push_back(ways[m] + " " + block);
  for (const std::string& way : ways) {
    BuilderConfig config{.optimization_level = 0, .bf16 = true};  // 4x4 rounds more
    config.disabled_tactics = {"dnnl_conv", "image_conv", "few_output_conv", "narrow_group_conv",
                               "kn2row_conv"};
    disable_bfloat16(config);
    for (const std::string& other : ways)
      if (other != way) config.disabled_tactics.push_back(other);
    expect_chosen(config, way, 5);
  }
}

/// Images in blocks of channels: windows, whole and single operands, several images in a tile of rows.
TEST_F(EnginePanelTest, BlocksOfChannels) {
  const std::string block = blocks();
  if (block.empty()) GTEST_SKIP() << "this processor's layouts have no blocks";
  const Ints around = {1, 1, 1, 1};
  const auto image = [&](const Shape& shape) { return input("image" + std::to_string(feed.size()), shape); };
  output(op("Relu",
            {op("Add", {conv({2, 32, 9, 11}, {48, 32, 3, 3}, {{"pads", around}}), image({2, 48, 9, 11})})}));
  output(conv({1, 16, 6, 5}, {16, 16, 3, 3}, {{"pads", Ints{0, 2, 1, 0}}}, false));
  output(op("Sigmoid", {conv({3, 64, 13, 3}, {144, 64, 3, 3}, {})}));
  output(op("Mul", {conv({2, 32, 5, 4}, {32, 32, 3, 3}, {}), image({2, 32, 3, 2})}));
  output(op("Mul", {conv({3, 16, 5, 5}, {32, 16, 3, 3}, {{"dilations", Ints{2, 1}}}), weight({32, 1, 1})}));
  infer_shapes(*model);
  const std::vector<std::string> ways = {"winograd_conv:2x2", "winograd_conv:4x4", "panel_conv:float32"};
  for (const std::string& way : ways) {
    const std::string wanted = way + " " + block;
    BuilderConfig config{.optimization_level = 0, .bf16 = true};  // 4x4 rounds more
    config.disabled_tactics = {"dnnl_conv",   "image_conv",          "few_output_conv",
                               "kn2row_conv", "panel_conv:bfloat16", "panel_conv:bfloat16 " + block};
    disable_bfloat16(config);
    disable_bfloat16(config, " " + block);
    for (const std::string& other : ways) {
      config.disabled_tactics.push_back(other);
      if (other != way) config.disabled_tactics.push_back(other + " " + block);
    }
    expect_chosen(config, wanted, 5);
  }
}

/// Contiguous pixels are not gathered: several images in a tile of rows, with epilogues.
TEST_F(EnginePanelTest, PixelsInBlocksOfChannels) {
  const std::string block = blocks();
  if (block.empty()) GTEST_SKIP() << "this processor's layouts have no blocks";
  output(conv({3, 48, 5, 5}, {32, 48, 1, 1}, {}));
  output(conv({1, 16, 30, 33}, {160, 16, 1, 1}, {}, false));
  output(conv({2, 144, 7}, {16, 144, 1}, {}));
  // With one pixel, a whole operand is a vector of channels.
  output(op("Add", {conv({1, 16, 1, 1}, {32, 16, 1, 1}, {}), input("one", {1, 32, 1, 1})}));
  const auto end = [&] { return conv({2, 32, 6, 7}, {64, 32, 1, 1}, {}); };
  for (Value* x : ends(end, {2, 64, 6, 7})) output(x);
  infer_shapes(*model);
  BuilderConfig config{.optimization_level = 0};
  config.disabled_tactics = {"dnnl_conv",   "image_conv",       "few_output_conv",
                             "kn2row_conv", "depthwise_conv1d", "panel_conv:float32"};
  expect_chosen(config, "panel_conv:float32 " + block, 8);
}

TEST_F(EnginePanelTest, InfinitiesAndNanStayWhereTheyAre) {
  output(op("Relu", {conv({1, 16, 9, 9}, {32, 16, 3, 3}, {{"pads", Ints{1, 1, 1, 1}}})}));
  output(conv({1, 16, 9, 9}, {32, 16, 3, 3}, {{"pads", Ints{1, 1, 1, 1}}}));
  output(conv({1, 16, 9, 9}, {32, 16, 3, 3}, {{"pads", Ints{2, 2, 2, 2}}, {"dilations", Ints{2, 2}}}));
  output(conv({1, 96, 9, 9}, {96, 32, 3, 3}, {{"pads", Ints{1, 1, 1, 1}}, {"group", int64_t{3}}}));
  output(conv({1, 256, 9, 9}, {256, 128, 3, 3}, {{"pads", Ints{1, 1, 1, 1}}, {"group", int64_t{2}}}));
  infer_shapes(*model);
  for (Tensor& t : feed) {
    t.mutable_data<float>()[2 * 81 + 4 * 9 + 4] = INFINITY;
    t.mutable_data<float>()[7 * 81 + 8 * 9 + 1] = NAN;
  }
  const std::vector<Tensor> reference = exact();
  const std::vector<std::string> ways = {"winograd_conv:2x2", "winograd_conv:4x4",
                                         "winograd_conv:2x2 " + blocks(), "winograd_conv:4x4 " + blocks()};
  for (const std::string& way : ways) {
    if (way.ends_with(' ')) continue;
    BuilderConfig config{.optimization_level = 0, .bf16 = true};
    config.disabled_tactics = {"dnnl_conv", "panel_conv", "kn2row_conv", "few_output_conv",
                               "narrow_group_conv"};
    disable_bfloat16(config);
    for (const std::string& other : ways)
      if (other != way) config.disabled_tactics.push_back(other);
    const Runtime runtime({.threads = 2});
    const auto engine = Builder(runtime).build_engine(model, config);
    const std::vector<Tensor> y = engine->create_execution_context()->infer(feed);
    for (size_t i = 0; i < y.size(); ++i) {
      const Tensor wanted = convert(reference[i], DType::kFloat32);
      for (int64_t k = 0; k < y[i].numel(); ++k) {
        const float a = y[i].data<float>()[k], b = wanted.data<float>()[k];
        if (std::isfinite(b))
          ASSERT_NEAR(a, b, 1e-4) << i << " " << k;
        else
          ASSERT_TRUE(std::isnan(b) ? std::isnan(a) : a == b) << i << " " << k << " " << a;
      }
    }
  }
}

TEST_F(EnginePanelTest, ProductsOfEveryKind) {
  Value* a = input("a", {7, 33});
  Value* stack = input("stack", {2, 3, 5, 20});
  Value* many = input("many", {200, 300});
  output(op("Gemm", {a, weight({18, 33}), weight({18})}, {{"transB", int64_t{1}}, {"beta", 0.5F}}));
  output(op("Add", {op("MatMul", {stack, weight({20, 9})}), weight({9})}));
  output(op("Relu", {op("MatMul", {many, weight({300, 170})})}));
  output(op("MatMul", {a, weight({33, 1})}));
  expect_every_form(4);
}

/// oneDNN's direct kernel for AVX2 is slow with windows of few taps and with short rows: without measurements
/// its estimate must show it.
class EngineDirectConvTest : public EnginePanelTest {
 protected:
  void SetUp() override {
    EnginePanelTest::SetUp();
    if (!blocks().ends_with('8')) GTEST_SKIP() << "this processor's layouts are not those of AVX2";
  }
  void expect_others() {
    for (const std::string& name : chosen_without_measurements())
      EXPECT_FALSE(name.starts_with("dnnl_conv")) << name;
  }
};

TEST_F(EngineDirectConvTest, WithoutMeasurementsColumnsOfPixelsAreNotLeftToIt) {
  output(conv({1, 256, 512, 1}, {512, 256, 5, 1}, {}));
  expect_others();
}

TEST_F(EngineDirectConvTest, WithoutMeasurementsNarrowStridesAreNotLeftToIt) {
  output(conv({1, 256, 7, 7}, {256, 256, 1, 1}, {{"strides", std::vector<int64_t>{2, 2}}}));
  output(conv({1, 256, 14, 14}, {256, 256, 3, 3}, {{"strides", std::vector<int64_t>{2, 2}}}));
  expect_others();
}

/// oneDNN adds an operand after a factor one element at a time, hundreds of times slower than the product
/// itself: without measurements its estimate must show it.
TEST_F(EnginePanelTest, WithoutMeasurementsNoOperandIsAddedOneByOne) {
  Value* product = op("MatMul", {input("a", {49, 576}), weight({576, 144})});
  output(op("Add", {op("Mul", {product, scalar(0.5F)}), input("other", {49, 144})}));
  const std::multiset<std::string> chosen = chosen_without_measurements();
  EXPECT_FALSE(chosen.size() == 1 && chosen.begin()->starts_with("dnnl_matmul"))
      << "all in one step of oneDNN";
}

}  // namespace
}  // namespace assay::engine_panel_test
