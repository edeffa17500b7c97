#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "ops/op_test_util.h"

namespace assay::constant_test {
namespace {

using Ints = std::vector<int64_t>;

Tensor constant(Attribute::Data data, const char* name) {
  return run_op("Constant", 13, {}, {{name, std::move(data)}})[0];
}

TEST(Constant, ReadsEveryAttribute) {
  EXPECT_EQ(constant(Tensor::vector<int8_t>({3}), "value").to_int64(), Ints{3});
  EXPECT_EQ(constant(int64_t{-4}, "value_int").item<int64_t>(), -4);
  EXPECT_EQ(constant(2.5f, "value_float").item<float>(), 2.5f);
  EXPECT_EQ(constant(std::string("text"), "value_string").item<std::string>(), "text");
  EXPECT_EQ(constant(Ints{1, 2}, "value_ints").to_int64(), (Ints{1, 2}));
  EXPECT_EQ(constant(std::vector<float>{1, 2}, "value_floats").data<float>()[1], 2);
  EXPECT_EQ(constant(std::vector<std::string>{"a", "b"}, "value_strings").span<std::string>()[1], "b");
  EXPECT_EQ(constant(Ints{}, "value_ints").shape(), Shape{0});
}

TEST(Constant, ExpandsSparseTensors) {
  const Tensor values = Tensor::vector<int32_t>({5, 6});
  const Attribute::Sparse linear{values, Tensor::vector<int64_t>({1, 5}), {2, 3}};
  EXPECT_EQ(constant(linear, "sparse_value").to_int64(), (Ints{0, 5, 0, 0, 0, 6}));
  const Attribute::Sparse rows{values, Tensor::from<int64_t>({2, 2}, {0, 1, 1, 2}), {2, 3}};
  EXPECT_EQ(constant(rows, "sparse_value").to_int64(), (Ints{0, 5, 0, 0, 0, 6}));
  EXPECT_THROW(constant(Attribute::Sparse{values, Tensor::vector<int64_t>({1, 6}), {2, 3}}, "sparse_value"),
               Error);
  EXPECT_THROW(constant(Attribute::Sparse{values, Tensor::vector<int64_t>({1}), {2, 3}}, "sparse_value"),
               Error);
  EXPECT_THROW(constant(Attribute::Sparse{values, Tensor::from<int64_t>({2, 2}, {0, 1, 1, 3}), {2, 3}},
                        "sparse_value"),
               Error);
  EXPECT_THROW(constant(Attribute::Sparse{values, Tensor::vector<int64_t>({0, 1}), {1 << 30, 1 << 30}},
                        "sparse_value"),
               Error);
}

TEST(Constant, NeedsOneAttribute) {
  EXPECT_THROW(run_op("Constant", 13, {}), Error);
  EXPECT_THROW(run_op("Constant", 13, {}, {{"value_int", int64_t{1}}, {"value_ints", Ints{1}}}), Error);
}

TEST(ConstantOfShape, FillsEveryElement) {
  const Tensor shape = Tensor::vector<int64_t>({2, 1});
  EXPECT_EQ(run_op("ConstantOfShape", 9, {shape})[0].data<float>()[1], 0.0f);
  const Tensor seven = Tensor::vector<int32_t>({7});
  EXPECT_EQ(run_op("ConstantOfShape", 9, {shape}, {{"value", seven}})[0].to_int64(), (Ints{7, 7}));
  const Tensor nibble = convert(seven, DType::kInt4);
  EXPECT_EQ(convert(run_op("ConstantOfShape", 21, {Tensor::vector<int64_t>({3})}, {{"value", nibble}})[0],
                    DType::kInt64)
                .to_int64(),
            (Ints{7, 7, 7}));
  EXPECT_EQ(run_op("ConstantOfShape", 9, {Tensor::vector<int64_t>({})})[0].shape(), Shape{});
  EXPECT_THROW(run_op("ConstantOfShape", 9, {shape}, {{"value", shape}}), Error);
}

TEST(Cast, ConvertsUnlessTheReferenceIsIdeal) {
  const auto cast = [](bool ideal, int64_t to) {
    const OpTestNode n("Cast", 13, {true}, {{"to", to}}, 1, "");
    EvalContext c(n.node(), n.op(), n.version(), {Tensor::scalar(0.1)});
    c.ideal = ideal;
    n.version().eval(c);
    return c.outputs()[0];
  };
  EXPECT_EQ(cast(false, 1).item<float>(), 0.1f);
  EXPECT_EQ(cast(true, 1).item<double>(), 0.1) << "the ideal value is not rounded";
  EXPECT_EQ(cast(true, 7).item<int64_t>(), 0);
}

TEST(Cast, KeepsTheRangeOfTheTypeInTheIdealReference) {
  const OpTestNode n("Cast", 19, {true}, {{"to", int64_t{10}}}, 1, "");
  EvalContext c(n.node(), n.op(), n.version(), {Tensor::vector<double>({65519, 65520, 1e-9, -1e9})});
  c.ideal = true;
  n.version().eval(c);
  const double* y = c.outputs()[0].data<double>();
  EXPECT_EQ(y[0], 65519) << "float16 would round it to 65504";
  EXPECT_EQ(y[1], INFINITY);
  EXPECT_EQ(y[2], 1e-9);
  EXPECT_EQ(y[3], -INFINITY);
}

/// Up to the next power of two, a number may double: that is no rounding.
TEST(Cast, BringsNumbersToPowersOfTwoInTheIdealReference) {
  for (const auto& [mode, wanted] :
       std::map<std::string, std::vector<double>>{{"up", {0.25, 4, 2, 0x1p127}},
                                                  {"down", {0.125, 2, 2, 0x1p127}},
                                                  {"nearest", {0.125, 4, 2, 0x1p127}}}) {
    const OpTestNode n("Cast", 24, {true}, {{"to", int64_t{24}}, {"round_mode", mode}}, 1, "");
    EvalContext c(n.node(), n.op(), n.version(), {Tensor::vector<double>({0.13, 3, 2, 1e300})});
    c.ideal = true;
    n.version().eval(c);
    const Tensor& y = c.outputs()[0];
    ASSERT_EQ(y.dtype(), DType::kFloat64);
    EXPECT_EQ(std::vector<double>(y.span<double>().begin(), y.span<double>().end()), wanted) << mode;
  }
}

TEST(Cast, PrintsTheDeclaredTypeInTheIdealReference) {
  const OpTestNode n("Cast", 13, {true}, {{"to", int64_t{8}}}, 1, "");
  n.node().input(0)->type = Type::tensor(DType::kFloat32);
  EvalContext c(n.node(), n.op(), n.version(), {Tensor::scalar(static_cast<double>(0.1f))});
  c.ideal = true;
  n.version().eval(c);
  EXPECT_EQ(c.outputs()[0].item<std::string>(), "0.1");
}

TEST(Cast, HonoursSaturateAndRoundMode) {
  const Tensor x = Tensor::vector<float>({3, 1e9f});
  const auto as_float = [](const Tensor& t) { return convert(t, DType::kFloat32); };
  const AttributeList to_fp8 = {{"to", int64_t{17}}};
  EXPECT_EQ(as_float(run_op("Cast", 19, {x}, to_fp8)[0]).data<float>()[1], 448);
  EXPECT_TRUE(std::isnan(as_float(run_op("Cast", 19, {x}, {{"to", int64_t{17}}, {"saturate", int64_t{0}}})[0])
                             .data<float>()[1]));
  const auto scale = [&](const char* mode) {
    return as_float(run_op("Cast", 24, {x}, {{"to", int64_t{24}}, {"round_mode", mode}})[0]).data<float>()[0];
  };
  EXPECT_EQ(scale("up"), 4);
  EXPECT_EQ(scale("down"), 2);
  EXPECT_EQ(scale("nearest"), 4);
  EXPECT_THROW(scale("sideways"), Error);
}

TEST(CastLike, TakesTheDeclaredTypeOfItsSecondInput) {
  EXPECT_EQ(run_op("CastLike", 15, {Tensor::scalar(2.7f), Tensor::scalar<int32_t>(0)})[0].item<int32_t>(), 2);
  EXPECT_EQ(infer_op("CastLike", 15, {Tensor::scalar(2.7f), Type::tensor(DType::kInt8)}).str(), "int8[]");
}

}  // namespace
}  // namespace assay::constant_test
