#include <cmath>

#include "ops/nn/test_tensors.h"

namespace assay::normalization_test {
namespace {

/// Mean 0 and deviation 1 along each row of [rows, count].
void expect_normalized(const Tensor& y, int64_t count) {
  for (int64_t r = 0; r < y.numel() / count; ++r) {
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < count; ++i) sum += y.data<double>()[r * count + i];
    for (int64_t i = 0; i < count; ++i) squares += std::pow(y.data<double>()[r * count + i], 2);
    EXPECT_NEAR(sum / static_cast<double>(count), 0, 1e-12);
    EXPECT_NEAR(squares / static_cast<double>(count), 1, 1e-3);
  }
}

Tensor ones(int64_t n) { return Tensor::vector<double>(Values(static_cast<size_t>(n), 1)); }
Tensor zeros(int64_t n) { return Tensor::vector<double>(Values(static_cast<size_t>(n), 0)); }

TEST(Normalization, EachNormalisesItsOwnPart) {
  const Tensor x = random_tensor({3, 4, 5, 6}, 1);
  expect_normalized(run_op("LayerNormalization", 17, {x, ones(6)})[0], 6);
  expect_normalized(
      run_op("LayerNormalization", 17, {x, ones(30).reshaped({5, 6})}, {{"axis", int64_t{2}}})[0], 30);
  expect_normalized(run_op("InstanceNormalization", 6, {x, ones(4), zeros(4)})[0], 30);
  expect_normalized(run_op("GroupNormalization", 21, {x, ones(4), zeros(4)}, {{"num_groups", int64_t{2}}})[0],
                    60);
  expect_normalized(transposed(run_op("MeanVarianceNormalization", 13, {x})[0], {1, 0, 2, 3}), 90);
  const std::vector<Tensor> trained =
      run_op("BatchNormalization", 15, {x, ones(4), zeros(4), zeros(4), ones(4)},
             {{"training_mode", int64_t{1}}}, 3);
  expect_normalized(transposed(trained[0], {1, 0, 2, 3}), 90);
}

TEST(Normalization, GroupScalesArePerGroupBeforeOpset21) {
  const Tensor x = random_tensor({1, 4, 3}, 1);
  const Tensor by_group =
      run_op("GroupNormalization", 18, {x, Tensor::vector<double>({2, 3}), Tensor::vector<double>({4, 5})},
             {{"num_groups", int64_t{2}}})[0];
  const Tensor by_channel =
      run_op("GroupNormalization", 21,
             {x, Tensor::vector<double>({2, 2, 3, 3}), Tensor::vector<double>({4, 4, 5, 5})},
             {{"num_groups", int64_t{2}}})[0];
  expect_near(by_group, by_channel, 0);
}

TEST(Normalization, LayerOutputsItsStatistics) {
  const Tensor x = Tensor::from<double>({2, 2}, {1, 3, 5, 5});
  const std::vector<Tensor> y = run_op("LayerNormalization", 17, {x, ones(2)}, {{"epsilon", 0.25F}}, 3);
  EXPECT_EQ(y[1].shape(), (Shape{2, 1}));
  EXPECT_EQ(values(y[1]), (Values{2, 5}));
  EXPECT_EQ(values(y[2]), (Values{1 / std::sqrt(1.25), 2}));
  EXPECT_EQ(infer_op("LayerNormalization", 17,
                     {Type::tensor(DType::kFloat16, Dims{Dim::symbol("n"), Dim(2)}), Type()}, {}, 3)
                .types[1]
                .str(),
            "float32[n, 1]");
}

TEST(Normalization, RmsDividesByTheRootMeanSquare) {
  const Tensor x = Tensor::from<double>({1, 2}, {3, 4});
  const Tensor y =
      run_op("RMSNormalization", 23, {x, Tensor::vector<double>({1, 10})}, {{"epsilon", 0.0F}})[0];
  EXPECT_NEAR(y.data<double>()[0], 3 / std::sqrt(12.5), 1e-15);
  EXPECT_NEAR(y.data<double>()[1], 40 / std::sqrt(12.5), 1e-14);
}

TEST(Normalization, LpKeepsALineOfZeros) {
  const Tensor x = Tensor::from<double>({2, 2}, {3, 0, 4, 0});
  EXPECT_EQ(values(run_op("LpNormalization", 22, {x}, {{"axis", int64_t{0}}})[0]), (Values{0.6, 0, 0.8, 0}));
  EXPECT_EQ(values(run_op("LpNormalization", 22, {x}, {{"axis", int64_t{0}}, {"p", int64_t{1}}})[0]),
            (Values{3.0 / 7, 0, 4.0 / 7, 0}));
}

TEST(Normalization, LrnSumsOverItsNeighbours) {
  // Even sizes reach one channel further ahead than back.
  const Tensor x = Tensor::from<double>({1, 4, 1}, {1, 2, 3, 4});
  const Tensor y =
      run_op("LRN", 13, {x}, {{"size", int64_t{2}}, {"alpha", 2.0F}, {"beta", 1.0F}, {"bias", 1.0F}})[0];
  EXPECT_EQ(values(y), (Values{1.0 / 6, 2.0 / 14, 3.0 / 26, 4.0 / 17}));
}

TEST(BatchNormalization, UsesTheGivenStatistics) {
  const Tensor x = Tensor::from<double>({1, 2, 2}, {1, 2, 3, 4});
  const std::vector<Tensor> inputs = {x, Tensor::vector<double>({2, 1}), Tensor::vector<double>({0, 10}),
                                      Tensor::vector<double>({1, 3}), Tensor::vector<double>({4, 1})};
  EXPECT_EQ(values(run_op("BatchNormalization", 15, inputs, {{"epsilon", 0.0F}})[0]), (Values{0, 1, 10, 11}));
}

TEST(BatchNormalization, TrainingMovesTheRunningStatistics) {
  const Tensor x = Tensor::from<double>({2, 1, 1}, {1, 5});
  const std::vector<Tensor> inputs = {x, ones(1), zeros(1), Tensor::vector<double>({10}),
                                      Tensor::vector<double>({20})};
  const std::vector<Tensor> y =
      run_op("BatchNormalization", 15, inputs, {{"training_mode", int64_t{1}}, {"momentum", 0.5F}}, 3);
  EXPECT_EQ(values(y[1]), (Values{6.5}));
  EXPECT_EQ(values(y[2]), (Values{12}));
}

TEST(BatchNormalization, HasOneOutputOutsideTraining) {
  const std::vector<Tensor> inputs = {random_tensor({2, 4, 3}, 1), ones(4), zeros(4), zeros(4), ones(4)};
  const auto refused = [&](int64_t opset, AttributeList attributes, const std::string& attribute) {
    try {
      run_op("BatchNormalization", opset, inputs, std::move(attributes), 3);
      ADD_FAILURE() << opset;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::kInvalidModel);
      EXPECT_NE(std::string(e.what()).find(attribute), std::string::npos) << e.what();
    }
  };
  refused(15, {}, "training_mode");
  refused(14, {{"training_mode", int64_t{0}}}, "training_mode");
  refused(6, {{"is_test", int64_t{1}}}, "is_test");
}

TEST(BatchNormalization, OldOpsetMayNormaliseEveryFeature) {
  const Tensor x = Tensor::from<double>({2, 1, 2}, {1, 2, 3, 4}), two = Tensor::from<double>({1, 2}, {1, 2});
  const Tensor one = Tensor::from<double>({1, 2}, {1, 1}), none = Tensor::from<double>({1, 2}, {0, 0});
  const AttributeList attributes = {{"spatial", int64_t{0}}, {"epsilon", 0.0F}};
  EXPECT_EQ(values(run_op("BatchNormalization", 7, {x, one, none, two, one}, attributes)[0]),
            (Values{0, 0, 2, 2}));
}

/// LayerNormalization in float32 with two passes over the row.
std::vector<float> layer_norm_in_float(const std::vector<float>& x) {
  const auto n = static_cast<float>(x.size());
  float mean = 0, variance = 0;
  for (const float v : x) mean += v;
  mean /= n;
  for (const float v : x) variance += (v - mean) * (v - mean);
  const float inverse = 1 / std::sqrt(variance / n + 1e-5F);
  std::vector<float> y;
  for (const float v : x) y.push_back((v - mean) * inverse);
  return y;
}

// The mean is thousands of deviations away, where x - mean loses most of its digits.
TEST(Normalization, BoundCoversCancellation) {
  for (const double offset : {0.0, 30.0, 3000.0}) {
    Tensor x = random_tensor({1, 64}, 1);
    for (double& v : x.mutable_span<double>()) v = static_cast<double>(static_cast<float>(v + offset));
    const Tensor y = run_op("LayerNormalization", 17, {x, ones(64)})[0];
    const Tensor bound = accumulated_bound("LayerNormalization", 17, {x, ones(64)}, {}, 0x1p-24);
    const std::vector<float> computed =
        layer_norm_in_float({x.span<double>().begin(), x.span<double>().end()});
    double worst = 0;
    for (size_t i = 0; i < computed.size(); ++i)
      worst = std::max(
          worst, std::fabs(static_cast<double>(computed[i]) - y.data<double>()[i]) / bound.data<double>()[i]);
    EXPECT_LE(worst, 1) << offset;
    EXPECT_GE(worst, 1e-4) << offset;
  }
}

TEST(NormalizationErrors, NameTheBrokenRule) {
  const Tensor x = random_tensor({2, 4, 3}, 1);
  expect_refused("InstanceNormalization", 6,
                 {{{x, ones(3), zeros(4)}, {}, "input 1 has shape (3,) for 4 channels"}});
  expect_refused("GroupNormalization", 21,
                 {{{x, ones(4), zeros(4)}, {{"num_groups", int64_t{3}}}, "3 groups do not divide 4 channels"},
                  {{x, ones(4), zeros(4)}, {{"num_groups", int64_t{0}}}, "attribute 'num_groups' is 0"}});
  expect_refused("LayerNormalization", 17, {{{x, ones(3)}, {{"axis", int64_t{3}}}, "axis 3 is outside"}});
  expect_refused("LpNormalization", 22, {{{x}, {{"p", int64_t{3}}}, "attribute 'p' is 3"}});
  expect_refused("LRN", 13, {{{x}, {{"size", int64_t{0}}}, "attribute 'size' is 0"}});
  EXPECT_THROW(run_op("LayerNormalization", 17, {x, ones(2)}), Error);
  EXPECT_THROW(run_op("BatchNormalization", 15, {x, ones(3), zeros(4), zeros(4), ones(4)}), Error);
  EXPECT_THROW(
      run_op("BatchNormalization", 15, {random_tensor({4}, 1), ones(4), zeros(4), zeros(4), ones(4)}), Error);
}

}  // namespace
}  // namespace assay::normalization_test
