#include "engine/tactics/tactic_test_util.h"

namespace assay::engine::nbits_conv_test {
namespace {

/// Elements of few bits, which are listed byte by byte: int4[48,20,3,3] w = {...}.
std::string stored(const std::string& type, const std::string& name, const Shape& shape) {
  const auto bytes = static_cast<int64_t>(storage_bytes(*dtype_from_name(type), shape.numel()));
  const std::string list = integers("uint8", name, {bytes}, 251, 0);
  std::string dims;
  for (const int64_t d : shape.dims()) dims += (dims.empty() ? "" : ",") + std::to_string(d);
  return fmt::format("{}[{}] {}{}", type, dims, name, list.substr(list.find(" = ")));
}
/// int8 has negative numbers.
std::string stored_bytes(const std::string& type, const std::string& name, const Shape& shape) {
  return type == "int8" ? integers("int8", name, shape, 251, -125) : stored(type, name, shape);
}

/// A convolution of weights [37, 53, 3, 3] with scales of this shape.
NetworkText window(const std::string& type, const std::string& attributes, const Shape& scales,
                   bool has_zeros, const std::string& conv = "<pads = [1, 1, 1, 1], strides = [2, 1]>") {
  std::string constants = stored_bytes(type, "q", {37, 53, 3, 3}) + ", " + floats("b", {37});
  constants += ", " + (scales.rank() == 0 ? "float s = {0.0625}" : floats("s", scales));
  if (has_zeros)
    constants += ", " + (scales.rank() == 0 ? type + " z = {3}" : stored_bytes(type, "z", scales));
  return {"(float[2,53,9,11] x) => (float[2,37,5,11] y)",
          fmt::format("w = DequantizeLinear {} (q, s{}) c = Conv {} (x, w, b) y = Relu (c)", attributes,
                      has_zeros ? ", z" : "", conv),
          constants, 25};
}

TEST(NbitsConv, EveryWidthAndFormOfScales) {
  struct Form {
    const char* attributes;
    Shape scales;
  };
  const Form forms[] = {{"", {}},
                        {"<axis = 0>", {37}},
                        {"<axis = 1>", {53}},
                        {"<axis = -1>", {3}},
                        {"<axis = 1, block_size = 53>", {37, 1, 3, 3}},
                        {"<axis = 1, block_size = 16>", {37, 4, 3, 3}},
                        {"<axis = 0, block_size = 16>", {3, 53, 3, 3}},
                        {"<axis = 0, block_size = 10>", {4, 53, 3, 3}}};
  for (const char* type : {"int8", "uint8", "int4", "uint4", "int2", "uint2"})
    for (const Form& form : forms)
      for (const bool has_zeros : {false, true}) {
        SCOPED_TRACE(fmt::format("{} {} {}", type, form.attributes, has_zeros));
        const bool is_small =
            bit_width(*dtype_from_name(type)) * 8 * 21 * 37 + 40 * form.scales.numel() <= 16 * 8 * 21 * 37;
        if (is_small)
          TacticTest("nbits_conv", window(type, form.attributes, form.scales, has_zeros)).expect_agreement();
      }
}

TEST(NbitsConv, PixelsInPlaceAndDilatedWindows) {
  const std::string pixels = stored("int4", "q", {260, 64, 1, 1}) + ", " + floats("s", {260, 2, 1, 1});
  TacticTest("nbits_conv",
             {"(float[2,64,6,5] x) => (float[2,260,6,5] y)",
              "w = DequantizeLinear <axis = 1, block_size = 32> (q, s) y = Conv (x, w)", pixels, 21})
      .expect_agreement();
  const std::string line = stored("uint4", "q", {75, 75, 3}) + ", " + floats("s", {75});
  TacticTest("nbits_conv",
             {"(float[1,75,40] x) => (float[1,75,36] y)",
              "w = DequantizeLinear <axis = 0> (q, s) y = Conv <dilations = [2]> (x, w)", line, 21})
      .expect_agreement();
  const std::string cube = stored("int4", "q", {32, 32, 3, 3, 3}) + ", float s = {0.125}";
  TacticTest("nbits_conv",
             {"(float[1,32,4,5,6] x) => (float[1,32,4,5,6] y)",
              "w = DequantizeLinear (q, s) y = Conv <pads = [1, 1, 1, 1, 1, 1]> (x, w)", cube, 21})
      .expect_agreement();
}

TEST(NbitsConv, ImagesInBlocksOfChannels) {
  const std::string constants = stored("int4", "q", {128, 128, 3, 3}) + ", " + floats("s", {128, 4, 3, 3}) +
                                ", " + stored("int4", "p", {128, 128, 1, 1}) + ", " + floats("t", {128});
  TacticTest t("nbits_conv",
               {"(float[2,128,6,5] x) => (float[2,128,6,5] y)",
                "w = DequantizeLinear <axis = 1, block_size = 32> (q, s) v = DequantizeLinear "
                "<axis = 0> (p, t) c = Conv <pads = [1, 1, 1, 1]> (x, w) d = Conv (c, v) y = Add (d, x)",
                constants, 21});
  for (const Layout layout : cpu_target()->layouts())
    if (layout.is_blocked()) t.expect_agreement(layout.str());
}

/// What is behind the convolution would be part of dequantized weights.
TEST(NbitsConv, ScalesBehindItStayThere) {
  const std::string constants = stored("int4", "q", {128, 128, 1, 1}) + ", " + floats("s", {128}) + ", " +
                                floats("g", {128}) + ", " + floats("b", {128}) + ", " + floats("m", {128}) +
                                ", float[128] v = {" +
                                [] {
                                  std::string ones = "1";
                                  for (int i = 1; i < 128; ++i) ones += ", 1.5";
                                  return ones;
                                }() +
                                "}";
  TacticTest("nbits_conv",
             {"(float[1,128,6,5] x) => (float[1,128,6,5] y)",
              "w = DequantizeLinear <axis = 0> (q, s) c = Conv (x, w) y = BatchNormalization (c, g, b, m, v)",
              constants, 21})
      .expect_agreement();
}

TEST(NbitsConv, ScalesOfNoUse) {
  for (const char* scale : {"0", "nan", "inf", "1e-42"})
    TacticTest("nbits_conv",
               {"(float[1,128,3,3] x) => (float[1,128,3,3] y)", "w = DequantizeLinear (q, s) y = Conv (x, w)",
                stored("int4", "q", {128, 128, 1, 1}) + fmt::format(", float s = {{{}}}", scale), 21})
        .expect_agreement();
}

TEST(NbitsConv, RefusesWhatIsNotStoredForIt) {
  const std::string reason = "the weights are not stored in a few bits for it alone";
  expect_refusal("nbits_conv",
                 {"(float[1,64,4,4] x) => (float[1,64,4,4] y)", "w = DequantizeLinear (q, s) y = Conv (x, w)",
                  stored("int4", "q", {64, 64, 1, 1}) + ", float s = {0.5}", 21},
                 reason);
  expect_refusal("nbits_conv",
                 {"(float[1,128,4,4] x) => (float[1,128,4,4] y)",
                  "w = DequantizeLinear (q, s) y = Conv <group = 2> (x, w)",
                  stored("int4", "q", {128, 64, 1, 1}) + ", float s = {0.5}", 21},
                 reason);
  expect_refusal("nbits_conv",
                 {"(uint8[1,128,4,4] x) => (float[1,128,4,4] y)",
                  "f = DequantizeLinear (x, s) w = DequantizeLinear (q, s) y = Conv (f, w)",
                  stored_bytes("int8", "q", {128, 128, 1, 1}) + ", float s = {0.5}", 21},
                 reason);
  expect_refusal(
      "nbits_conv",
      {"(float[1,128,4,4] x) => (float[1,128,4,4] y)", "y = Conv (x, q)", floats("q", {128, 128, 1, 1}), 21},
      reason);
}

/// Others would hold the weights in floats.
TEST(NbitsConv, OthersAreRefused) {
  const NetworkText network = window("int4", "<axis = 0>", {37}, false);
  expect_refusal("panel_conv", network, "the weights stay in the few bits that the model stores");
  TacticTest t("panel_conv", network);
  t.config().disabled_tactics = {"nbits_conv"};
  t.expect_agreement("float32");
}

TEST(NbitsConv, ForgedStepsAreRefused) {
  TacticTest t("nbits_conv", window("int4", "<axis = 1, block_size = 16>", {37, 4, 3, 3}, true));
  t.expect_runs([](Plan&, Step&) {});
  t.expect_refused(set("bits", 3), "it has 3 bits");
  t.expect_refused(set("bits", 8), "elements");
  t.expect_refused(set("part", 20), "have no blocks");
  t.expect_refused(set("part", INT64_MAX), "have no blocks");
  t.expect_refused(set("part_rows", 54), "have no blocks");
  t.expect_refused(set("part_rows", 1), "elements");
  t.expect_refused(set("part_columns", 38), "have no blocks");
  t.expect_refused(set("part_columns", 2), "elements");
  t.expect_refused(set("same_parts", 1), "elements");
  t.expect_refused(set_in("kernel", 0, 4), "scratch memory");
  t.expect_refused(set("groups", 3), "its parameter 'groups' is 3");
  t.expect_refused([](Plan&, Step& s) { s.inputs.resize(4); }, "inputs");
}

}  // namespace
}  // namespace assay::engine::nbits_conv_test
