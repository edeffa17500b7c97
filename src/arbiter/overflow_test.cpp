// Networks that leave the range of their type: infinities with the right sign are right, garbage is not.
#include <cmath>

#include "arbiter/arbiter_test_util.h"
#include "tensor/convert.h"

namespace assay::overflow_test {
namespace {

/// (x + x) + (x + x), in a type.
struct Doubled {
  explicit Doubled(DType t) : type(t) {
    TestModel m;
    Value* h = m.node("Add", "h", {m.input("x", {4}, type), m.graph.inputs[0]});
    model = m.with_outputs({h, m.node("Add", "y", {h, h})});
    const double large = type == DType::kFloat16 ? 60000 : 3e38;
    feed = {convert(Tensor::vector<double>({large, 1, -large, 0}), type)};
    sums = convert(Tensor::vector<double>({HUGE_VAL, 2, -HUGE_VAL, 0}), type);
  }
  ArbiterVerdict of(std::vector<double> y, bool layers) const {
    StoredTensorList results;
    if (layers) results.push_back({"h", sums});
    results.push_back({"y", convert(Tensor::vector<double>(y), type)});
    return judge(model, feed, results).outputs.back();
  }
  DType type;
  std::shared_ptr<const Model> model;
  std::vector<Tensor> feed;
  Tensor sums;
};

TEST(Overflow, IsRightWithItsSignAndNothingElseIs) {
  for (const DType type : {DType::kFloat32, DType::kFloat16, DType::kBFloat16})
    for (const bool layers : {false, true}) {
      const Doubled d(type);
      const std::string which = fmt::format("{} {}", dtype_name(type), layers);
      const ArbiterVerdict right = d.of({HUGE_VAL, 4, -HUGE_VAL, 0}, layers);
      EXPECT_NE(right.verdict, Verdict::kWrong) << which;
      EXPECT_EQ(right.overflows + right.follows, 2) << which << ": it is said of every node";
      EXPECT_EQ(d.of({5, 4, 3, 0}, layers).verdict, Verdict::kWrong) << which;
      EXPECT_EQ(d.of({-HUGE_VAL, 4, -HUGE_VAL, 0}, layers).verdict, Verdict::kWrong) << which;
      EXPECT_EQ(d.of({HUGE_VAL, 4, 1000, 0}, layers).verdict, Verdict::kWrong) << which;
      EXPECT_EQ(d.of({NAN, 4, -HUGE_VAL, 0}, layers).verdict, Verdict::kWrong) << which;
      EXPECT_EQ(d.of({HUGE_VAL, 5, -HUGE_VAL, 0}, layers).verdict, Verdict::kWrong) << which;
      EXPECT_EQ(d.of({HUGE_VAL, HUGE_VAL, -HUGE_VAL, 0}, layers).verdict, Verdict::kWrong) << which;
    }
}

TEST(Overflow, OfSumsIsJudgedByTheirSigns) {
  // Terms 6e38, -6e38 and 5: an order in which they stay in range gives 5, others an infinity, and two parts
  // that are infinite with either sign no number. -7 is none of these.
  TestModel m;
  const auto model = m.with_outputs({m.node(
      "MatMul", "y", {m.input("x", {1, 3}), m.constant("w", Tensor::from<float>({3, 1}, {2, 2, 1}))})});
  const std::vector<Tensor> feed{Tensor::from<float>({1, 3}, {3e38F, -3e38F, 5})};
  const auto verdict = [&](float y) {
    return judge(model, feed, {{"y", Tensor::from<float>({1, 1}, {y})}}).outputs[0].verdict;
  };
  for (const float right : {5.0F, HUGE_VALF, -HUGE_VALF, NAN})
    EXPECT_NE(verdict(right), Verdict::kWrong) << right;
  const std::vector<Tensor> positive{Tensor::from<float>({1, 3}, {3e38F, 3e38F, 5})};
  EXPECT_EQ(judge(model, positive, {{"y", Tensor::from<float>({1, 1}, {-HUGE_VALF})}}).outputs[0].verdict,
            Verdict::kWrong);
  EXPECT_EQ(judge(model, positive, {{"y", Tensor::from<float>({1, 1}, {12})}}).outputs[0].verdict,
            Verdict::kWrong);
}

TEST(Overflow, OfSquaresLeavesTheOffsetOfANormalisation) {
  TestModel m;
  const auto model =
      m.with_outputs({m.node("LayerNormalization", "y",
                             {m.input("x", {1, 4}), m.constant("s", Tensor::vector<float>({1, 1, 1, 1})),
                              m.constant("b", Tensor::vector<float>({1, 2, 3, 4}))})});
  const std::vector<Tensor> feed{Tensor::from<float>({1, 4}, {1e25F, -1e25F, 2e25F, 0})};
  const auto verdict = [&](std::vector<float> y) {
    return judge(model, feed, {{"y", Tensor::from<float>({1, 4}, y)}}).outputs[0].verdict;
  };
  EXPECT_NE(verdict({1, 2, 3, 4}), Verdict::kWrong);
  EXPECT_NE(verdict({NAN, NAN, NAN, NAN}), Verdict::kWrong);
  EXPECT_EQ(verdict({1, 2, 3, 7}), Verdict::kWrong);
}

TEST(Overflow, BelowTheNormalNumbersIsKeptOrFlushed) {
  TestModel m;
  const auto model =
      m.with_outputs({m.node("Mul", "y", {m.input("x", {4}), m.constant("k", Tensor::scalar(0.3F))})});
  const std::vector<Tensor> feed{Tensor::vector<float>({0x1.23456p-128F, 1e-39F, 1e-20F, 0})};
  const StoredTensorList right = results_of(*model, feed);
  const auto verdict = [&](double factor) {
    Tensor y = convert(to_float64(right[0].tensor.load()), DType::kFloat32);
    y.mutable_data<float>()[0] *= static_cast<float>(factor);
    return judge(model, feed, {{"y", y}}).outputs[0].verdict;
  };
  EXPECT_NE(verdict(1), Verdict::kWrong);
  EXPECT_NE(verdict(0), Verdict::kWrong) << "flushed";
  EXPECT_EQ(verdict(0.875), Verdict::kWrong) << "cut to a few bits";
}

TEST(Overflow, InANetworkThatMayStayInRangeCannotBeTold) {
  // 300 * 300 has no room in float16, and 0.5 of it neither has; 1/4 has, in a backend that rounds at the
  // end.
  TestModel m;
  const DType half = DType::kFloat16;
  Value* x = m.input("x", {2}, half);
  Value* y = m.node("Mul", "y",
                    {m.node("Mul", "square", {x, x}), m.constant("k", convert(Tensor::scalar(0.25F), half))});
  const auto model = m.with_outputs({y});
  const std::vector<Tensor> feed{convert(Tensor::vector<float>({300, 2}), half)};
  const auto verdict = [&](double v) {
    return judge(model, feed, {{"y", convert(Tensor::vector<double>({v, 1}), half)}}).outputs[0].verdict;
  };
  EXPECT_NE(verdict(22500), Verdict::kWrong) << "as in float32";
  EXPECT_NE(verdict(HUGE_VAL), Verdict::kWrong) << "as in float16";
  EXPECT_NE(verdict(22500), Verdict::kUnclear);
  EXPECT_EQ(verdict(100), Verdict::kUnclear) << "neither";
  EXPECT_EQ(verdict(-HUGE_VAL), Verdict::kUnclear);
}

}  // namespace
}  // namespace assay::overflow_test
