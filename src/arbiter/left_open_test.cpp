// Results that ONNX leaves open when only the network's outputs are known.
#include "arbiter/left_open.h"

#include <cstdint>
#include <limits>

#include "arbiter/arbiter_test_util.h"
#include "tensor/convert.h"

namespace assay::left_open_test {
namespace {

TEST(LeftOpen, CastsOfOverflowsBehindUnknownValues) {
  TestModel m;
  Value* h = m.node(
      "Mul", "h",
      {m.input("x", {5}, DType::kFloat16), m.constant("k", convert(Tensor::scalar(7.0F), DType::kFloat16))});
  const auto model = m.with_outputs({m.node("Cast", "y", {h}, {{"to", int64_t{6}}})});
  // 140,000 is none that float16 has; the last one is infinite from the beginning.
  const float infinite = std::numeric_limits<float>::infinity();
  const std::vector<Tensor> feed{
      convert(Tensor::vector<float>({20000, -20000, 3, 5, infinite}), DType::kFloat16)};
  constexpr int32_t kMin = std::numeric_limits<int32_t>::min(), kMax = std::numeric_limits<int32_t>::max();
  const auto verdict = [&](const std::vector<int32_t>& y) {
    return judge(model, feed, {{"y", Tensor::vector<int32_t>(y)}}).outputs.at(0).verdict;
  };
  EXPECT_EQ(verdict({kMin, kMin, 21, 35, kMin}), Verdict::kOpen);
  EXPECT_NE(verdict({kMax, kMin, 21, 35, kMax}), Verdict::kWrong);
  EXPECT_NE(verdict({140000, -140000, 21, 35, kMax}), Verdict::kWrong);
  EXPECT_EQ(verdict({kMin, kMin, 21, 350000, kMin}), Verdict::kWrong);
  EXPECT_EQ(verdict({kMin, kMin, kMin, 35, kMin}), Verdict::kWrong);
}

TEST(LeftOpen, AShapeThatRoundingDecidesIsRightWhereAnEvaluationHasTheSameValues) {
  // Three elements lie on the threshold, up to the rounding of their product.
  TestModel m;
  Value* h = m.node("Mul", "h", {m.input("x", {8}), m.constant("k", Tensor::scalar(1 / 3.0F))});
  const double threshold = double{1.7F} * double{1 / 3.0F};
  Value* above =
      m.node("Greater", "above", {h, m.constant("t", Tensor::scalar(static_cast<float>(threshold)))});
  const auto model = m.with_outputs({m.node("NonZero", "y", {above})});
  const std::vector<Tensor> feed{Tensor::vector<float>({1, 2, 1.7F, 3, 1.7F, 0, 1.7F, 4})};
  StoredTensorList results = results_of(*model, feed);
  const Tensor right = results.back().tensor.load();
  EXPECT_EQ(judge(model, feed, {{"y", right}}).outputs.at(0).verdict, Verdict::kAgrees);
  Tensor other = Tensor::from<int64_t>(right.shape(), right.span<int64_t>());
  other.mutable_data<int64_t>()[0] = 5;
  EXPECT_NE(judge(model, feed, {{"y", other}}).outputs.at(0).verdict, Verdict::kAgrees);
}

}  // namespace
}  // namespace assay::left_open_test
