// Values that are stored in bfloat16 between products: rounded once, and read as they are.
#include "engine/tactics/tactic_test_util.h"
#include "kernels/panel/panel_product.h"

namespace assay::engine::stored_rows_test {
namespace {

using Pins = std::map<std::string, std::string>;

struct Result {
  std::vector<float> numbers;
  std::vector<std::string> narrow;  ///< values of the plan in bfloat16
};

/// The output of a network whose only input is filled with numbers, with these tactics for its nodes.
Result run(const NetworkText& network, const Pins& pins, int threads = 2) {
  const std::shared_ptr<Model> model = network.model();
  BuilderConfig config{.optimization_level = 0, .bf16 = true};
  for (const auto& [node, tactic] : pins) config.pinned_tactics[node] = tactic;
  const Runtime runtime({.threads = threads});
  const std::shared_ptr<Engine> engine = runtime.deserialize_engine(
      serialize_engine(Builder(runtime).build_engine(model, config)->state().saved));
  Tensor x = Tensor::allocate(DType::kFloat32, *known_shape(*model->graph->inputs[0]->type.dims));
  std::mt19937 random(3);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (float& v : x.mutable_span<float>()) v = uniform(random);
  Result result;
  const Tensor y = engine->create_execution_context()->infer(std::vector<Tensor>{x})[0];
  result.numbers.assign(y.span<float>().begin(), y.span<float>().end());
  for (const PlanValue& v : engine->state().saved.plans.at(0).plan->values)
    if (v.dtype == DType::kBFloat16) result.narrow.push_back(v.name);
  return result;
}

/// Within this part of the largest number.
void expect_near(const std::vector<float>& got, const std::vector<float>& wanted, float part) {
  float top = 0;
  for (const float v : wanted) top = std::max(top, std::abs(v));
  ASSERT_EQ(got.size(), wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) ASSERT_NEAR(got[i], wanted[i], part * top) << i;
}

class StoredRows : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!kernels::multiplies_bfloat16()) GTEST_SKIP() << "this processor does not multiply bfloat16";
  }
};

constexpr const char* kPlainMatmul = "panel_matmul:bfloat16_products";

TEST_F(StoredRows, OfMatricesAreRoundedOnce) {
  const NetworkText network{"(float[70,24] x) => (float[70,20] y)",
                            "a = Gemm (x, w, b) r = Relu (a) y = MatMul (r, v)",
                            floats("w", {24, 48}) + ", " + floats("b", {48}) + ", " + floats("v", {48, 20})};
  const Result later = run(network, {{"Gemm_0", kPlainMatmul}, {"MatMul_2", kPlainMatmul}});
  EXPECT_TRUE(later.narrow.empty());
  for (const int threads : {1, 3}) {
    const Result once = run(network,
                            {{"Gemm_0", "panel_matmul:bfloat16_products_stores"},
                             {"MatMul_2", "panel_matmul:bfloat16_products_reads"}},
                            threads);
    EXPECT_EQ(once.narrow, std::vector<std::string>{"r"});
    EXPECT_EQ(once.numbers, later.numbers) << "what products read is the same to the last bit";
  }
}

TEST_F(StoredRows, OfConvolutionsWithWeightsOfFewBits) {
  const NetworkText network{
      "(float[2,33,9,7] x) => (float[2,130,5,4] y)",
      "w = DequantizeLinear <axis = 0> (q, s) c = Conv <pads = [1, 1, 1, 1]> (x, w) v = DequantizeLinear (p, "
      "t) y = Conv <pads = [1, 1, 1, 1], strides = [2, 2]> (c, v)",
      integers("int8", "q", {129, 33, 3, 3}, 251, -125) + ", " + floats("s", {129}) + ", " +
          integers("uint8", "p", {130, 129, 3, 3}, 251, 0) + ", float t = {0.125}",
      21};
  const auto with = [&](const std::string& tactic) {
    return run(network, {{"Conv_1", tactic + ":bfloat16_products_stores"},
                         {"Conv_3", tactic + ":bfloat16_products_reads"}});
  };
  const Result few_bits = with("nbits_conv");
  EXPECT_EQ(few_bits.narrow, std::vector<std::string>{"c"});
  EXPECT_EQ(few_bits.numbers, with("panel_conv").numbers) << "the same products";
}

TEST_F(StoredRows, OfOddLengthAreFilledUp) {
  const NetworkText network{"(float[9,6] x) => (float[9,20] y)", "a = MatMul (x, w) y = MatMul (a, v)",
                            floats("w", {6, 33}) + ", " + floats("v", {33, 20})};
  const Result later = run(network, {{"MatMul_0", kPlainMatmul}, {"MatMul_1", kPlainMatmul}});
  const Result once = run(network, {{"MatMul_0", "panel_matmul:bfloat16_products_stores"},
                                    {"MatMul_1", "panel_matmul:bfloat16_products_reads"}});
  EXPECT_EQ(once.numbers, later.numbers);
}

constexpr const char* kPlainConv = "panel_conv:bfloat16_products";

TEST_F(StoredRows, OfPixelsAndWindows) {
  const NetworkText network{
      "(float[2,16,9,7] x) => (float[2,24,5,7] y)",
      "a = Conv (x, w, b) r = Relu (a) c = Conv <pads = [1, 1, 1, 1], strides = [2, 1]> (r, v) y = Clip (c)",
      floats("w", {32, 16, 1, 1}) + ", " + floats("b", {32}) + ", " + floats("v", {24, 32, 3, 3})};
  const Result later = run(network, {{"Conv_0", kPlainConv}, {"Conv_2", kPlainConv}});
  const Result once = run(network, {{"Conv_0", "panel_conv:bfloat16_products_stores"},
                                    {"Conv_2", "panel_conv:bfloat16_products_reads"}});
  EXPECT_EQ(once.narrow, std::vector<std::string>{"r"});
  EXPECT_EQ(once.numbers, later.numbers);
}

/// A residual network: what is added is stored in bfloat16, too, and so rounded once more.
TEST_F(StoredRows, AddendsAreReadAsTheyAre) {
  const NetworkText network{"(float[1,16,12,12] x) => (float[1,20,12,12] y)",
                            "a = Conv (x, w) r = Relu (a) c = Conv (r, v) d = Conv (c, u) s = Add (d, r) t = "
                            "Relu (s) y = Conv (t, z)",
                            floats("w", {64, 16, 1, 1}) + ", " + floats("v", {16, 64, 1, 1}) + ", " +
                                floats("u", {64, 16, 1, 1}) + ", " + floats("z", {20, 64, 1, 1})};
  const std::string stores = "panel_conv:bfloat16_products_stores",
                    both = stores.substr(0, 28) + "_reads_stores";
  const Result plain =
      run(network,
          {{"Conv_0", kPlainConv}, {"Conv_2", kPlainConv}, {"Conv_3", kPlainConv}, {"Conv_6", kPlainConv}});
  const Result stored = run(network, {{"Conv_0", stores},
                                      {"Conv_2", both},
                                      {"Conv_3", both},
                                      {"Conv_6", "panel_conv:bfloat16_products_reads"}});
  EXPECT_EQ(stored.narrow, (std::vector<std::string>{"r", "c", "t"}));
  expect_near(stored.numbers, plain.numbers, 0x1p-8F);
}

TEST_F(StoredRows, GoThroughViewsSumsNormalizationsAndParts) {
  const NetworkText network{
      "(float[6,16] x) => (float[2,3,20] y)",
      "a = MatMul (x, w) shaped = Reshape (a, shape) n = LayerNormalization <axis = -1> (shaped, scale, "
      "shift) "
      "b = MatMul (n, v) c = MatMul (n, u) s = Mul (b, c) j = Concat <axis = -1> (s, b) y = MatMul (j, z)",
      "int64[3] shape = {2, 3, 32}, " + floats("w", {16, 32}) + ", " + floats("scale", {32}) + ", " +
          floats("shift", {32}) + ", " + floats("v", {32, 16}) + ", " + floats("u", {32, 16}) + ", " +
          floats("z", {32, 20})};
  const Pins plain = {{"MatMul_0", kPlainMatmul}, {"MatMul_3", kPlainMatmul}, {"MatMul_4", kPlainMatmul},
                      {"MatMul_7", kPlainMatmul}, {"Mul_5", "pointwise:row"}, {"Concat_6", "concat:row"}};
  const std::string stores = "panel_matmul:bfloat16_products_stores",
                    reads = "panel_matmul:bfloat16_products_reads";
  const Pins narrow = {{"MatMul_0", stores},
                       {"LayerNormalization_2", "normalize:bfloat16"},
                       {"MatMul_3", reads + "_stores"},
                       {"MatMul_4", reads + "_stores"},
                       {"Mul_5", "pointwise:row_bfloat16"},
                       {"Concat_6", "concat:row_bfloat16"},
                       {"MatMul_7", reads}};
  const Result wide = run(network, plain), stored = run(network, narrow);
  EXPECT_GE(stored.narrow.size(), 6U);
  expect_near(stored.numbers, wide.numbers, 0x1p-6F);
}

/// 40 channels: the last vector is not whole. Sums of some hundred products of either sign cancel in part, so
/// that one more rounding shows larger.
TEST_F(StoredRows, GoThroughWinogradAndDepthwise) {
  const NetworkText network{
      "(float[2,16,13,11] x) => (float[2,20,7,6] y)",
      "a = Conv (x, w, b) r = Relu (a) c = Conv <pads = [1, 1, 1, 1]> (r, v) s = Relu (c) "
      "d = Conv <group = 40, pads = [1, 1, 1, 1], strides = [2, 2]> (s, u, e) t = Clip (d, low, high) y = "
      "Conv (t, z)",
      floats("w", {48, 16, 1, 1}) + ", " + floats("b", {48}) + ", " + floats("v", {40, 48, 3, 3}) + ", " +
          floats("u", {40, 1, 3, 3}) + ", " + floats("e", {40}) + ", float low = {0}, float high = {6}, " +
          floats("z", {20, 40, 1, 1})};
  const std::string plain = kPlainConv;
  const Result wide = run(network, {{"Conv_0", plain},
                                    {"Conv_2", "winograd_conv:2x2"},
                                    {"Conv_4", "depthwise_conv:channels_last"},
                                    {"Conv_6", plain}});
  const Result stored = run(network, {{"Conv_0", plain + "_stores"},
                                      {"Conv_2", "winograd_conv:2x2_reads_stores"},
                                      {"Conv_4", "depthwise_conv:channels_last_bfloat16"},
                                      {"Conv_6", plain + "_reads"}});
  EXPECT_EQ(stored.narrow, (std::vector<std::string>{"r", "s", "t"}));
  expect_near(stored.numbers, wide.numbers, 0x1p-6F);
}

TEST_F(StoredRows, InputsAndOutputsOfTheNetworkAreTheCallers) {
  const NetworkText network{"(float[40,24] x) => (float[40,20] y)", "y = MatMul (x, w)",
                            floats("w", {24, 20})};
  EXPECT_THROW(run(network, {{"MatMul_0", "panel_matmul:bfloat16_products_stores"}}), Error);
  EXPECT_THROW(run(network, {{"MatMul_0", "panel_matmul:bfloat16_products_reads"}}), Error);
}

}  // namespace
}  // namespace assay::engine::stored_rows_test
