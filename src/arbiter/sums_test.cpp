#include "arbiter/sums.h"

#include <cmath>
#include <numbers>

#include "arbiter/arbiter_test_util.h"
#include "tensor/convert.h"

namespace assay::sums_test {
namespace {

constexpr double kU = 0x1p-24;

/// The exact result of a node of one output, and what a plain loop gives with one element put into it.
struct Sums {
  std::shared_ptr<const Model> model;
  std::vector<Tensor> feed;
  Tensor exact = to_float64(observe(model, feed)[0].second[0]);

  ArbiterVerdict verdict(int64_t at, double value) const {
    Tensor y = convert(exact, DType::kFloat32);
    y.mutable_data<float>()[at] = static_cast<float>(value);
    return judge(model, feed, {{"y", y}}).outputs[0];
  }
  double at(int64_t i) const { return exact.data<double>()[i]; }
};

/// The sum in order, each step rounded to float32, of the product that is farthest off among `count`
/// elements.
template <typename Addend>
std::pair<int64_t, float> farthest_off(const Sums& s, int64_t count, int64_t terms, Addend addend) {
  std::pair<int64_t, float> found{0, 0.0F};
  double most = -1;
  for (int64_t i = 0; i < count; ++i) {
    float sum = 0;
    for (int64_t k = 0; k < terms; ++k) sum += addend(i, k);
    if (std::abs(sum - s.at(i)) > most) {
      most = std::abs(sum - s.at(i));
      found = {i, sum};
    }
  }
  return found;
}

/// Weights that are positive in the first half of the channels and negative in the second, on an image
/// without contrast: the sum goes up a long way and comes back.
TEST(Sums, OfFlatImagesWalkFar) {
  constexpr int64_t kChannels = 16, kOutputs = 64, kTaps = 9, kTerms = kChannels * kTaps;
  Tensor w = random_floats({kOutputs, kChannels, 3, 3}, 1, 0.5F, 1.5F);
  for (int64_t i = 0; i < w.numel(); ++i)
    if (i % kTerms >= kTerms / 2) w.mutable_data<float>()[i] *= -1;
  Tensor x = Tensor::allocate(DType::kFloat32, {1, kChannels, 3, 3});
  for (float& v : x.mutable_span<float>()) v = 0.83F;
  TestModel m;
  // No fast convolution has these strides.
  const Sums s{m.with_outputs({m.node("Conv", "y", {m.input("x", x.shape()), m.constant("w", w)},
                                      {{"strides", std::vector<int64_t>{2, 2}}})}),
               {x}};
  const auto [at, sum] = farthest_off(s, kOutputs, kTerms, [&](int64_t i, int64_t k) {
    return x.data<float>()[k] * w.data<float>()[i * kTerms + k];
  });
  double magnitude = 0;
  for (int64_t k = 0; k < kTerms; ++k) magnitude += std::abs(0.83 * w.data<float>()[at * kTerms + k]);
  ASSERT_GT(std::abs(sum - s.at(at)),
            5 * kU * ((1 + std::sqrt(kTerms / 3.0)) * std::abs(s.at(at)) + magnitude / 2))
      << "more than addends in a random order explain";
  EXPECT_EQ(s.verdict(at, sum).verdict, Verdict::kRounding);
  EXPECT_NE(s.verdict(at, sum).note.find("walk"), std::string::npos);
  EXPECT_EQ(s.verdict(at, s.at(at) + 100 * kU * magnitude).verdict, Verdict::kWrong);
}

/// Noise under a slow wave, of which every half is added up before the next.
TEST(Sums, OfWavesWalkFar) {
  constexpr int64_t kTerms = 4096, kRows = 32;
  Tensor x = random_floats({kRows, kTerms}, 1, 0.1F, 1.9F);
  for (int64_t i = 0; i < x.numel(); ++i)
    x.mutable_data<float>()[i] *=
        static_cast<float>(std::sin(2 * std::numbers::pi * (static_cast<double>(i % kTerms) + 0.5) / kTerms));
  TestModel m;
  const Sums s{
      m.with_outputs({m.node("ReduceSum", "y",
                             {m.input("x", x.shape()), m.constant("axes", Tensor::vector<int64_t>({1}))})}),
      {x}};
  const auto [at, sum] =
      farthest_off(s, kRows, kTerms, [&](int64_t i, int64_t k) { return x.data<float>()[i * kTerms + k]; });
  EXPECT_EQ(s.verdict(at, sum).verdict, Verdict::kRounding);
  EXPECT_NE(s.verdict(at, sum).note.find("walk"), std::string::npos);
  EXPECT_EQ(s.verdict(at, s.at(at) + 1).verdict, Verdict::kWrong);
}

/// A kernel that adds the step again and again errs by the same remainder each time.
TEST(Sums, OfEqualStepsDrift) {
  constexpr int64_t kCount = 10000;
  TestModel m;
  const Sums s{m.with_outputs({m.node("Range", "y",
                                      {m.input("start", {}), m.constant("limit", Tensor::scalar(1000.0F)),
                                       m.constant("delta", Tensor::scalar(0.1F))})}),
               {Tensor::scalar(0.0F)}};
  float sum = 0;
  for (int64_t i = 0; i + 1 < kCount; ++i) sum += 0.1F;
  ASSERT_GT(std::abs(sum - s.at(kCount - 1)), 0.05);
  EXPECT_EQ(s.verdict(kCount - 1, sum).verdict, Verdict::kRounding);
  EXPECT_EQ(s.verdict(kCount - 1, sum).excuses, std::vector<std::string>{"sums"});
  EXPECT_EQ(s.verdict(kCount - 1, s.at(kCount - 1) + 1).verdict, Verdict::kWrong);
  EXPECT_EQ(s.verdict(99, s.at(99) + 0.01).verdict, Verdict::kWrong) << "fewer steps drift less";
}

/// Numbers of either sign in no order give no more room than they did.
TEST(Sums, OfNoiseStayNear) {
  constexpr int64_t kTerms = 1024;
  TestModel m;
  const Tensor w = random_floats({kTerms, 1}, 1), x = random_floats({1, kTerms}, 2);
  const Sums s{m.with_outputs({m.node("MatMul", "y", {m.input("x", x.shape()), m.constant("w", w)})}), {x}};
  double magnitude = 0;
  for (int64_t k = 0; k < kTerms; ++k)
    magnitude += std::abs(static_cast<double>(x.data<float>()[k]) * w.data<float>()[k]);
  const double expected = 5 * kU * ((1 + std::sqrt(kTerms / 3.0)) * std::abs(s.at(0)) + magnitude / 2);
  EXPECT_EQ(s.verdict(0, s.at(0) + 3 * expected).verdict, Verdict::kWrong);
}

/// The middle of a flat picture: a softmax of equal numbers, times coordinates that sum up to nothing. Half
/// of them are added up before the others take them back. Only the result is known.
TEST(Sums, OnTheWayWalkFar) {
  constexpr int64_t kCount = 1600;
  Tensor w = Tensor::allocate(DType::kFloat32, {kCount, 1});
  for (int64_t i = 0; i < kCount; ++i) w.mutable_data<float>()[i] = 2 * static_cast<float>(i / 40) / 39 - 1;
  TestModel m;
  Value* p = m.node("Softmax", "p", {m.input("x", {1, kCount})}, {{"axis", int64_t{-1}}});
  const auto model = m.with_outputs({m.node("MatMul", "y", {p, m.constant("w", w)})});
  const std::vector<Tensor> feed{Tensor::from<float>({1, kCount}, std::vector<float>(kCount, 0.1F))};
  const auto verdict = [&](float y) {
    return judge(model, feed, {{"y", Tensor::from<float>({1, 1}, {y})}}).outputs[0];
  };
  // The sums on the way reach a quarter: in some order of the blocks as much is left as 800 of them round.
  EXPECT_EQ(verdict(-1.2e-6F).verdict, Verdict::kCannotTell) << "of nothing no digit can be checked";
  EXPECT_EQ(verdict(-1.2e-6F).excuses, std::vector<std::string>{"sums"});
  EXPECT_EQ(verdict(1e-4F).verdict, Verdict::kWrong);
}

/// Small errors in many elements are no other order, though some element lies near every one.
TEST(Pattern, SmallErrorsAreNoOtherOrder) {
  constexpr int64_t kRows = 200;
  TestModel m;
  const Tensor x = random_floats({kRows, 40}, 1), w = random_floats({40, 40}, 2);
  const auto model = m.with_outputs({m.node("MatMul", "y", {m.input("x", x.shape()), m.constant("w", w)})});
  const Tensor exact = to_float64(observe(model, {x})[0].second[0]);
  const auto verdict = [&](double error, bool turned) {
    Tensor y = convert(exact, DType::kFloat32);
    for (int64_t i = 0; i < y.numel(); ++i)
      y.mutable_data<float>()[i] = static_cast<float>(exact.data<double>()[turned ? y.numel() - 1 - i : i] +
                                                      (i % 2 == 0 ? error : -error));
    return judge(model, {x}, {{"y", y}}).outputs[0];
  };
  double error = 1e-7;  // the first that is wrong: next to what is explained
  while (verdict(error, false).verdict != Verdict::kWrong && error < 1) error *= 1.2;
  EXPECT_EQ(verdict(error, false).pattern.find("order"), std::string::npos);
  EXPECT_NE(verdict(0, true).pattern.find("in another order"), std::string::npos);
}

}  // namespace
}  // namespace assay::sums_test
