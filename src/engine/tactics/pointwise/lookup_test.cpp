#include "engine/tactics/tactic_test_util.h"

namespace assay::engine::lookup_test {
namespace {

/// All values of a type, each several times.
Tensor all_values(DType type, const Shape& shape) {
  Tensor t = Tensor::allocate(type, shape);
  for (int64_t i = 0; i < t.numel(); ++i)
    static_cast<uint8_t*>(t.mutable_data())[i] = static_cast<uint8_t>(i * 5 + 1);
  return t;
}

constexpr const char* kNumbers =
    "float s = {0.043}, float t = {0.0039}, float third = {0.31}, float low = {-0.5}, float high = {2.5}, ";

NetworkText network(const std::string& type, const std::string& nodes,
                    const std::string& extents = "1,3,16,32") {
  return {fmt::format("({0}[{1}] x) => ({0}[{1}] y)", type, extents), nodes,
          kNumbers + fmt::format("{0} z = {{7}}, {0} o = {{3}}", type), 21};
}

void expect_table(const std::string& type, const std::string& nodes) {
  SCOPED_TRACE(nodes);
  TacticTest t("lookup", network(type, nodes));
  t.set_tolerance(0);
  t.set_input(0, all_values(*dtype_from_name(type), {1, 3, 16, 32}));
  t.expect_agreement();
}

TEST(Lookup, FunctionsOfAllValues) {
  for (const char* type : {"uint8", "int8"}) {
    for (const char* op :
         {"Sigmoid", "Tanh", "HardSwish", "Gelu", "LeakyRelu <alpha = 0.2>", "Elu", "Erf", "Softplus"})
      expect_table(type,
                   fmt::format("d = DequantizeLinear (x, s, z) a = {} (d) y = QuantizeLinear (a, t, o)", op));
    expect_table(type, "d = DequantizeLinear (x, s, z) a = Clip (d, low, high) y = QuantizeLinear (a, t, o)");
    expect_table(type, "d = DequantizeLinear (x, s, z) y = QuantizeLinear (d, third, o)");
  }
}

/// An activation that is quantized between its parts: two functions of the same values.
TEST(Lookup, FunctionsOfFunctions) {
  for (const char* type : {"uint8", "int8"}) {
    expect_table(
        type,
        "d = DequantizeLinear (x, s, z) a = Sigmoid (d) q = QuantizeLinear (a, t, o) e = DequantizeLinear "
        "(q, t, o) m = Mul (d, e) y = QuantizeLinear (m, third, z)");
    expect_table(
        type,
        "d = DequantizeLinear (x, s, z) a = Add (d, high) c = Clip (a, low, high) q = QuantizeLinear (c, t, "
        "o) e = DequantizeLinear (q, t, o) f = DequantizeLinear (x, s, z) m = Mul (e, f) n = Mul (third, m) "
        "y = QuantizeLinear (n, third, z)");
  }
}

TEST(Lookup, FromOneTypeToAnother) {
  TacticTest t("lookup", {"(uint8[2,300] x) => (int8[2,300] y)",
                          "d = DequantizeLinear (x, s, z) a = Sin (d) y = QuantizeLinear (a, t, o)",
                          "float s = {0.1}, float t = {0.01}, uint8 z = {128}, int8 o = {-3}", 21});
  t.set_tolerance(0);
  t.set_input(0, all_values(DType::kUInt8, {2, 300}));
  t.expect_agreement("row");
}

TEST(Lookup, ForgedStepsAreRefused) {
  TacticTest t("lookup",
               network("uint8", "d = DequantizeLinear (x, s, z) a = Tanh (d) y = QuantizeLinear (a, t, o)"));
  t.expect_runs([](Plan&, Step&) {});
  t.expect_refused(set("table", std::vector<int64_t>(255, 1)), "'table'");
  t.expect_refused(set("table", std::vector<int64_t>(256, 256)), "'table'");
  t.expect_refused(
      [](Plan& p, Step& s) {
        p.values[static_cast<size_t>(s.inputs[0])].shape = Shape{1, 3, 16, 16};
      },
      "two shapes");
  t.expect_refused([](Plan&, Step& s) { s.inputs.clear(); }, "inputs");
}

}  // namespace
}  // namespace assay::engine::lookup_test
