#include <cmath>

#include "ops/nn/test_tensors.h"

namespace assay::softmax_test {
namespace {

TEST(Softmax, StaysFiniteFarFromZero) {
  const Tensor x = Tensor::vector<double>({1000, 1000, -1e300});
  EXPECT_EQ(values(run_op("Softmax", 13, {x})[0]), (Values{0.5, 0.5, 0}));
  const Tensor y = run_op("LogSoftmax", 13, {x})[0];
  EXPECT_NEAR(y.data<double>()[0], -std::log(2.0), 1e-12);
  EXPECT_EQ(y.data<double>()[2], -1e300);
}

TEST(Softmax, TakesEverythingFromTheAxisOnBeforeOpset13) {
  const Tensor x = random_tensor({2, 3, 4}, 1);
  const Tensor flat = run_op("Softmax", 13, {x.reshaped({2, 12})}, {{"axis", int64_t{1}}})[0];
  expect_near(run_op("Softmax", 11, {x})[0].reshaped({2, 12}), flat, 0);
  const Tensor along = run_op("Softmax", 13, {transposed(x, {0, 2, 1})})[0];
  expect_near(run_op("Softmax", 13, {x}, {{"axis", int64_t{1}}})[0], transposed(along, {0, 2, 1}), 1e-15);
}

TEST(Softmax, LogSoftmaxIsItsLogarithm) {
  const Tensor x = random_tensor({3, 5, 2}, 1);
  for (const int64_t axis : {0, 1, 2, -1}) {
    Tensor y = run_op("Softmax", 13, {x}, {{"axis", axis}})[0];
    for (double& v : y.mutable_span<double>()) v = std::log(v);
    expect_near(run_op("LogSoftmax", 13, {x}, {{"axis", axis}})[0], y, 1e-14);
  }
}

TEST(Softmax, HardmaxMarksTheFirstLargest) {
  const Tensor x = Tensor::from<double>({2, 3}, {1, 3, 3, 2, 1, 0});
  EXPECT_EQ(values(run_op("Hardmax", 13, {x})[0]), (Values{0, 1, 0, 1, 0, 0}));
  EXPECT_EQ(values(run_op("Hardmax", 13, {x}, {{"axis", int64_t{0}}})[0]), (Values{0, 1, 1, 1, 0, 0}));
  EXPECT_EQ(values(run_op("Hardmax", 11, {x}, {{"axis", int64_t{0}}})[0]), (Values{0, 1, 0, 0, 0, 0}));
}

TEST(Softmax, RefusesAnAxisOutsideTheRank) {
  for (const char* op : {"Softmax", "LogSoftmax", "Hardmax"})
    for (const int version : {11, 13})
      expect_refused(op, version,
                     {{{random_tensor({2, 3}, 1)}, {{"axis", int64_t{2}}}, "axis 2 is outside"}});
}

TEST(Softmax, MayHaveAnAxisPastTheLastInVersionOne) {
  const Tensor x = random_tensor({2, 3}, 1);
  expect_near(run_op("Softmax", 1, {x}, {{"axis", int64_t{2}}})[0],
              Tensor::from<double>({2, 3}, std::vector<double>(6, 1)), 0);
  expect_refused("Softmax", 1, {{{x}, {{"axis", int64_t{3}}}, "axis 3 is outside"}});
}

// Softmax in float32, step by step, as a backend would.
std::vector<float> softmax_in_float(const Tensor& x) {
  std::vector<float> y(x.span<double>().begin(), x.span<double>().end());
  float most = y[0], sum = 0;
  for (const float v : y) most = std::max(most, v);
  for (float& v : y) sum += v = std::exp(v - most);
  for (float& v : y) v /= sum;
  return y;
}

TEST(Softmax, BoundCoversFloatArithmetic) {
  Tensor x = random_tensor({1, 500}, 1);
  for (double& v : x.mutable_span<double>()) v = static_cast<double>(static_cast<float>(v * 20));
  const Tensor y = run_op("Softmax", 13, {x})[0], bound = custom_bound("Softmax", 13, {x}, {}, 0x1p-24);
  const Tensor log = run_op("LogSoftmax", 13, {x})[0],
               log_bound = custom_bound("LogSoftmax", 13, {x}, {}, 0x1p-24);
  const std::vector<float> computed = softmax_in_float(x);
  for (int64_t i = 0; i < y.numel(); ++i) {
    const auto got = static_cast<double>(computed[static_cast<size_t>(i)]);
    EXPECT_LE(std::fabs(got - y.data<double>()[i]), bound.data<double>()[i]) << i;
    EXPECT_LE(bound.data<double>()[i], y.data<double>()[i] * 600 * 0x1p-24) << i;
    EXPECT_LE(std::fabs(std::log(got) - log.data<double>()[i]), log_bound.data<double>()[i]) << i;
  }
}

TEST(ClassLoss, PicksWeighsAndReduces) {
  const Tensor x = Tensor::from<double>({2, 3, 1}, {-1, -2, -3, -4, -5, -6});
  const Tensor target = Tensor::from<int64_t>({2, 1}, {2, 0}), weight = Tensor::vector<double>({2, 1, 3});
  const auto run = [&](const char* reduction, const Tensor& w, AttributeList attributes = {}) {
    attributes.emplace_back("reduction", std::string(reduction));
    return values(run_op("NegativeLogLikelihoodLoss", 13, {x, target, w}, std::move(attributes))[0]);
  };
  EXPECT_EQ(run("none", Tensor()), (Values{3, 4}));
  EXPECT_EQ(run("sum", Tensor()), (Values{7}));
  EXPECT_EQ(run("mean", Tensor()), (Values{3.5}));
  EXPECT_EQ(run("none", weight), (Values{9, 8}));
  EXPECT_EQ(run("mean", weight), (Values{17.0 / 5}));
  EXPECT_EQ(run("mean", Tensor(), {{"ignore_index", int64_t{2}}}), (Values{4}));
  EXPECT_EQ(run("none", weight, {{"ignore_index", int64_t{0}}}), (Values{9, 0}));
}

TEST(ClassLoss, CrossEntropyIsTheLossOfLogSoftmax) {
  const Tensor x = random_tensor({4, 5, 3}, 1),
               target = Tensor::from<int32_t>({4, 3}, std::vector<int32_t>(12, 2));
  const std::vector<Tensor> y = run_op("SoftmaxCrossEntropyLoss", 13, {x, target}, {}, 2);
  const Tensor log = run_op("LogSoftmax", 13, {x}, {{"axis", int64_t{1}}})[0];
  expect_near(y[1], log, 0);
  expect_near(y[0], run_op("NegativeLogLikelihoodLoss", 13, {log, target})[0], 1e-15);
}

TEST(ClassLoss, RefusesWhatIsNoClass) {
  const Tensor x = random_tensor({2, 3}, 1);
  for (const char* op : {"NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"}) {
    expect_error(
        [&] {
          run_op(op, 13, {x, Tensor::vector<int64_t>({0, 3})});
        },
        "target 3 is outside the 3 classes");
    expect_error([&] { run_op(op, 13, {x, Tensor::vector<int64_t>({0})}); }, "the targets have shape (1,)");
    expect_refused(
        op, 13,
        {{{x, Tensor::vector<int64_t>({0, 1})}, {{"reduction", std::string("avg")}}, "reduction 'avg'"}});
  }
}

}  // namespace
}  // namespace assay::softmax_test
