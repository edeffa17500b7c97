#include "engine/tactics/tactic_test_util.h"

namespace assay::engine::channel_pool_test {
namespace {

const NetworkText kAverage{
    "(float[1,20,11,11] x) => (float[1,20,6,6] y)",
    "y = AveragePool <kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]> (x)"};

TEST(ChannelPool, WindowsAndWholeImages) {
  TacticTest("channel_pool", kAverage).expect_agreement("channels_last");
  TacticTest("channel_pool", {"(float[2,32,5,7] x) => (float[2,32,1,1] y)", "y = GlobalMaxPool (x)"})
      .expect_agreement("channels_last");
}

TEST(ChannelPool, WholeImagesWithoutTheirAxes) {
  TacticTest("channel_pool", {"(float[2,20,5,7] x) => (float[2,20] y)",
                              "y = ReduceMean <keepdims = 0> (x, axes)", "int64[2] axes = {2, 3}"})
      .expect_agreement("channels_last");
  TacticTest("channel_pool", {"(float[2,32,5,7] x) => (float[2,32] y)",
                              "y = ReduceMean <keepdims = 0> (x, axes)", "int64[2] axes = {2, 3}"})
      .expect_agreement("blocked16");
  // Rows cannot hold the end of a block that is not full.
  TacticTest partial("channel_pool", {"(float[2,20,5,7] x) => (float[2,20] y)",
                                      "y = ReduceMean <keepdims = 0> (x, axes)", "int64[2] axes = {2, 3}"});
  try {
    partial.expect_agreement("blocked16");
    ADD_FAILURE() << "there is such a candidate";
  } catch (const Error& error) {
    EXPECT_NE(error.code(), ErrorCode::kInternal) << error.what();
    EXPECT_EQ(std::string_view(error.what()).find("the plan is wrong"), std::string_view::npos)
        << error.what();
  }
}

/// Averages of 8 bits that are quantized again; pixels from a Transpose, so that channels are last.
NetworkText quantized(const std::string& average, const std::string& from, const std::string& to,
                      const std::string& extents) {
  return {fmt::format("({}[2,11,9,80] x) => ({}[2,80{}] y)", from, to, extents),
          fmt::format("t = Transpose <perm = [0, 3, 1, 2]> (x) d = DequantizeLinear (t, s, zx) "
                      "a = {} y = QuantizeLinear (a, r, zy)",
                      average),
          fmt::format(
              "float s = {{0.37}}, float r = {{0.21}}, {} zx = {{9}}, {} zy = {{3}}, int64[2] axes = {{2, "
              "3}}",
              from, to)};
}

/// A level next to a tie may be either.
void expect_levels(NetworkText network) {
  TacticTest t("channel_pool", std::move(network));
  t.set_tolerance(1.0001 / 100);
  t.expect_agreement("channels_last_int8");
}

TEST(ChannelPool, AveragesOf8Bits) {
  expect_levels(quantized("GlobalAveragePool (d)", "uint8", "int8", ",1,1"));
  expect_levels(quantized("ReduceMean (d, axes)", "int8", "uint8", ",1,1"));
  expect_levels(quantized("ReduceMean <keepdims = 0> (d, axes)", "int8", "int8", ""));
  const std::string window = "AveragePool <kernel_shape = [3, 2], strides = [2, 2], pads = [1, 0, 1, 1]";
  expect_levels(quantized(window + "> (d)", "int8", "int8", ",6,5"));
  expect_levels(quantized(window + ", count_include_pad = 1> (d)", "uint8", "uint8", ",6,5"));
}

TEST(ChannelPool, AveragesOf8BitsAsNumbers) {
  TacticTest("channel_pool",
             {"(int8[2,80,11,9] x) => (float[2,80,1,1] y)",
              "d = DequantizeLinear (x, s, z) y = GlobalAveragePool (d)", "float s = {0.37}, int8 z = {-4}"})
      .expect_agreement("channels_last_int8");
}

TEST(ChannelPool, Forged8BitsAreRefused) {
  TacticTest t("channel_pool", quantized("AveragePool <kernel_shape = [3, 2], strides = [2, 2]> (d)", "int8",
                                         "uint8", ",5,4"));
  t.expect_refused(set("kind", 0), "it does not average images with channels last");
  t.expect_refused(set("x_zero_point", 200), "its parameter 'x_zero_point' is 200");
  t.expect_refused(set("y_zero_point", -1), "its parameter 'y_zero_point' is -1");
  t.expect_refused(set_in("pads_begin", 0, 3), "a window lies beside");
  t.expect_refused(set_in("kernel", 0, int64_t{1} << 24), "it does not average images with channels last");
}

TEST(ChannelPool, RefusesThreeAxes) {
  expect_refusal("channel_pool",
                 {"(float[1,8,3,3,3] x) => (float[1,8,1,1,1] y)", "y = GlobalAveragePool (x)"},
                 "only one or two spatial axes are supported");
}

TEST(ChannelPool, ForgedWindowsAreRefused) {
  TacticTest t("channel_pool", kAverage);
  t.expect_refused(set("kind", 3), "its parameter 'kind' is 3");
  t.expect_refused(set_in("pads_begin", 0, 3), "a window lies beside");
  t.expect_refused(set_in("kernel", 1, 0), "its parameter 'kernel' holds 0");
}

}  // namespace
}  // namespace assay::engine::channel_pool_test
