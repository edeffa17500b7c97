#include "engine/tactics/tactic_test_util.h"

namespace assay::engine::dequantize_test {
namespace {

NetworkText network(const std::string& type, const std::string& attributes, const std::string& scale_shape,
                    const std::string& zero = {}) {
  return {fmt::format("({}[3,20] x, float[{}] s{}) => (float[3,20] y)", type, scale_shape,
                      zero.empty() ? "" : fmt::format(", {}[{}] z", zero, scale_shape)),
          fmt::format("y = DequantizeLinear {} (x, s{})", attributes, zero.empty() ? "" : ", z"),
          {},
          25};
}

TEST(Dequantize, ScalesOfAxesAndBlocks) {
  TacticTest("dequantize", network("int8", "<axis = 1>", "20", "int8")).expect_agreement();
  TacticTest("dequantize", network("uint8", "<axis = 0>", "3", "uint8")).expect_agreement();
  TacticTest("dequantize", network("uint8", "<axis = 1, block_size = 8>", "3,3")).expect_agreement();
  TacticTest("dequantize", network("int8", "<axis = 0, block_size = 2>", "2,20")).expect_agreement();
}

/// Elements of few bits, which are listed byte by byte: float4e2m1[60,70] w = {...}.
std::string packed_weights(const std::string& type, const Shape& shape) {
  const auto bytes = static_cast<int64_t>(storage_bytes(*dtype_from_name(type), shape.numel()));
  const std::string list = integers("uint8", "w", {bytes}, 119, 0);
  return fmt::format("{}[{},{}]{}", type, shape[0], shape[1], list.substr(list.find(']') + 1));
}

/// The weights of a product in a form that it cannot read packed.
TEST(Dequantize, ElementsOfFewBits) {
  for (const char* type : {"int4", "uint4", "int2", "uint2", "float8e4m3fn", "float8e5m2", "float4e2m1"}) {
    const std::string list = packed_weights(type, {60, 70});
    TacticTest("dequantize", {"(float[2,60] x) => (float[2,70] y)",
                              "d = DequantizeLinear <axis = 1, block_size = 7> (w, s) y = MatMul (x, d)",
                              list + ", " + floats("s", {60, 10}), 25})
        .expect_agreement();
  }
}

TEST(Dequantize, RefusesWideElements) {
  expect_refusal(
      "dequantize",
      {"(int32[3,4] x, float[3] s) => (float[3,4] y)", "y = DequantizeLinear <axis = 0> (x, s)", {}, 21},
      "there is no table of int32");
}

TEST(Dequantize, ForgedGridsAreRefused) {
  TacticTest t("dequantize", network("int8", "<axis = 1, block_size = 8>", "3,3", "int8"));
  t.expect_runs([](Plan&, Step&) {});
  t.expect_refused(set("outer", 4), "elements");
  t.expect_refused(set("extent", INT64_MAX), "its sizes are beyond any memory");
  t.expect_refused(set("block", 0), "its parameter 'block' is 0");
  t.expect_refused(set("block", 4), "elements");
  t.expect_refused(set("grid", 3), "its parameter 'grid' is 3");
  t.expect_refused([](Plan&, Step& s) { s.inputs.resize(2); }, "inputs");
}

}  // namespace
}  // namespace assay::engine::dequantize_test
