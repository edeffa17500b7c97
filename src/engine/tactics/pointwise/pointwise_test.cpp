#include "engine/tactics/tactic_test_util.h"
#include "kernels/pointwise/program.h"

namespace assay::engine::pointwise_test {
namespace {

const NetworkText kSum{"(float[3,4] x, float[4] b) => (float[3,4] y)", "y = Add (x, b)"};

TEST(Pointwise, ChainsTypesAndLayouts) {
  TacticTest("pointwise", kSum).expect_agreement();
  TacticTest("pointwise",
             {"(float[3,7,5] x, float[7,1] c) => (float[3,7,5] y)",
              "a = Add (x, c) s = Sigmoid (x) m = Mul (a, s) z = Greater (m, x) y = Where (z, m, s)"})
      .expect_agreement();
  TacticTest images("pointwise", {"(float[1,16,3,5] x) => (float[1,16,3,5] y)", "y = HardSwish (x)"});
  for (const char* layout : {"row", "channels_last"}) images.expect_agreement(layout);
}

/// An image of 8 bits weighted by a gate of 8 bits, and quantized again, row-major and with channels last:
/// the levels are those of the reference
TEST(Pointwise, GatesOf8Bits) {
  for (const char* image : {"uint8", "int8"})
    for (const auto& [shape, order] : {std::pair{"2,24,5,7", "0, 1, 2, 3"}, {"2,5,7,24", "0, 3, 1, 2"}}) {
      TacticTest gate(
          "pointwise",
          {fmt::format("({}[{}] x, uint8[2,24,1,1] g) => ({}[2,24,5,7] y)", image, shape, image),
           fmt::format("p = Transpose <perm = [{}]> (x) d = DequantizeLinear (p, s, z) "
                       "e = DequantizeLinear (g, r, zero) m = Mul (d, e) y = QuantizeLinear (m, t, z)",
                       order),
           fmt::format("float s = {{0.037}}, float r = {{0.0078125}}, float t = {{0.021}}, "
                       "{} z = {{11}}, uint8 zero = {{0}}",
                       image)});
      gate.set_tolerance(1.01 / 127);  // a level, next to a tie
      gate.expect_agreement();
    }
}

TEST(Pointwise, RefusesTypesWithoutAForm) {
  expect_refusal("pointwise", {"(string[3] x, string[3] z) => (bool[3] y)", "y = Equal (x, z)", "", 19},
                 "there is no vector form for these types or attributes");
}

/// Plans name a type of registers by its number.
TEST(Pointwise, TypesKeepTheirNumbersInPlans) {
  EXPECT_EQ(std::vector<DType>(std::begin(kernels::kRegisterTypes), std::end(kernels::kRegisterTypes)),
            (std::vector<DType>{DType::kFloat32, DType::kFloat64, DType::kInt32, DType::kInt64, DType::kBool,
                                DType::kInt8, DType::kUInt8, DType::kInt16, DType::kUInt16, DType::kUInt32,
                                DType::kUInt64}));
  TacticTest("pointwise", kSum)
      .expect_refused(set_in("operand_registers", 0, std::ssize(kernels::kRegisterTypes)),
                      "operand_registers");
}

TEST(Pointwise, ForgedProgramsAreRefused) {
  TacticTest t("pointwise", kSum);
  t.expect_refused(set_in("operand_strides", 2, 4), "it would leave the 4 elements");
  t.expect_refused(set_in("arguments", 0, 7), "reads register 7 before anything writes it");
  t.expect_refused(set_in("domain", 0, 300), "its domain is not that of");
  t.expect_refused(set_in("operand_registers", 0, 1), "Add does not take its operands' types");
  t.expect_refused(set("operand_registers", std::vector<int64_t>{2, 2}), "'x' is float32");
  t.expect_refused(set("program", std::vector<std::string>{"Less"}), "'y' is float32");
  t.expect_refused(set("program", std::vector<std::string>{"Frobnicate"}), "is not a pointwise instruction");
}

}  // namespace
}  // namespace assay::engine::pointwise_test
