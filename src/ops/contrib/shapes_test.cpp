// The smaller operators of com.microsoft.
#include <cmath>

#include "ops/contrib/contrib_test_util.h"

namespace assay::shapes_test {
namespace {

TEST(EmbedLayerNormalization, AddsTheTablesAndCountsTheMask) {
  const Tensor ids = Tensor::from<int32_t>({1, 2}, std::vector<int32_t>{1, 0}),
               mask = Tensor::from<int32_t>({1, 2}, std::vector<int32_t>{1, 0});
  const Tensor words = Tensor::from<double>({2, 2}, std::vector<double>{1, 2, 3, 4}),
               places = Tensor::from<double>({2, 2}, std::vector<double>{10, 20, 30, 50});
  const Tensor gamma = Tensor::vector<double>({1, 1}), beta = Tensor::vector<double>({0, 0.5});
  const std::vector<Tensor> y =
      run_op("EmbedLayerNormalization", 1, {ids, {}, words, places, {}, gamma, beta, mask}, {}, 3, kMsDomain);
  EXPECT_EQ(values(y[2]), (Values{13, 24, 31, 52}));
  expect_near(y[0], Tensor::from<double>({1, 2, 2}, std::vector<double>{-1, 1.5, -1, 1.5}), 1e-9);
  EXPECT_EQ(y[1].to_int64(), (Ints{1}));
  const Tensor wrong = Tensor::from<int32_t>({1, 2}, std::vector<int32_t>{1, 2});
  expect_ms_refused("EmbedLayerNormalization",
                    {{{wrong, {}, words, places, {}, gamma, beta}, {}, "word 2"},
                     {{ids, ids, words, places, {}, gamma, beta}, {}, "together"}});
}

TEST(SimplifiedLayerNormalization, StandsInTheDomainOfTheStandard) {
  const Tensor x = Tensor::from<double>({1, 2}, std::vector<double>{3, 4}),
               scale = Tensor::vector<double>({2, 1});
  const std::vector<Tensor> y =
      run_op("SimplifiedLayerNormalization", 17, {x, scale}, {{"epsilon", 0.0F}}, 2);
  const double root = std::sqrt(12.5);
  expect_near(y[0], Tensor::from<double>({1, 2}, std::vector<double>{6 / root, 4 / root}), 1e-12);
  expect_near(y[1], Tensor::from<double>({1, 1}, std::vector<double>{1 / root}), 1e-12);
}

TEST(SkipGroupNorm, SpreadsASkipOverTheImage) {
  const Tensor x = random_tensor({2, 2, 2, 4}, 1), gamma = random_tensor({4}, 2),
               beta = random_tensor({4}, 3), skip = random_tensor({2, 4}, 4);
  const AttributeList attributes = {{"groups", int64_t{2}}, {"activation", int64_t{0}}};
  const Tensor sum = run_op("Add", 13, {x, skip.reshaped({2, 1, 1, 4})})[0];
  expect_near(run_ms("SkipGroupNorm", {x, gamma, beta, skip}, attributes),
              run_ms("GroupNorm", {sum, gamma, beta}, attributes), 1e-12);
  expect_ms_refused("GroupNorm",
                    {{{x, gamma, beta}, {{"groups", int64_t{3}}, {"activation", int64_t{0}}}, "3 groups"},
                     {{x, gamma, beta}, {{"groups", int64_t{2}}, {"activation", int64_t{2}}}, "0 or 1"}});
}

TEST(Inverse, RefusesASingularMatrix) {
  const Tensor a = Tensor::from<double>({2, 2}, std::vector<double>{0, 2, 1, 0});
  EXPECT_EQ(values(run_ms("Inverse", {a})), (Values{0, 1, 0.5, 0}));
  expect_ms_refused("Inverse",
                    {{{Tensor::from<double>({2, 2}, std::vector<double>{1, 2, 2, 4})}, {}, "singular"},
                     {{random_tensor({2, 3}, 1)}, {}, ""}});
}

TEST(Unique, KeepsTheOrderOfFirstOccurrence) {
  const std::vector<Tensor> y =
      run_op("Unique", 1, {Tensor::vector<double>({2, 1, 1, 3, 4, 3})}, {}, 3, kMsDomain);
  EXPECT_EQ(values(y[0]), (Values{2, 1, 3, 4}));
  EXPECT_EQ(y[1].to_int64(), (Ints{0, 1, 1, 2, 3, 2}));
  EXPECT_EQ(y[2].to_int64(), (Ints{1, 2, 2, 1}));
}

TEST(Range, StepsByOneWithoutDelta) {
  EXPECT_EQ(run_ms("Range", {Tensor::scalar<int64_t>(3), Tensor::scalar<int64_t>(6)}).to_int64(),
            (Ints{3, 4, 5}));
  EXPECT_EQ(infer_ms("Range", {Tensor::scalar<int64_t>(3), Tensor::scalar<int64_t>(6)}), "int64[3]");
  expect_ms_refused("Range",
                    {{{Tensor::scalar<int64_t>(0), Tensor::scalar<int64_t>(INT64_MAX)}, {}, "longer than"}});
}

TEST(ExpandDims, CountsNegativeAxesInTheResult) {
  EXPECT_EQ(run_ms("ExpandDims", {random_tensor({2, 3}, 1), Tensor::scalar<int32_t>(-1)}).shape(),
            (Shape{2, 3, 1}));
  EXPECT_EQ(infer_ms("ExpandDims", {float_type({named("n"), 3}), Tensor::scalar<int32_t>(1)}),
            "float32[n, 1, 3]");
  expect_ms_refused("ExpandDims", {{{random_tensor({2, 3}, 1), Tensor::scalar<int32_t>(3)}, {}, "axis"}});
}

TEST(CDist, BoundsTheExpandedSquare) {
  const Tensor a = Tensor::from<double>({1, 2}, std::vector<double>{1, 1}),
               b = Tensor::from<double>({2, 2}, std::vector<double>{4, 5, 1, 1});
  EXPECT_EQ(values(run_ms("CDist", {a, b}, {{"metric", std::string("euclidean")}})), (Values{5, 0}));
  expect_ms_refused("CDist", {{{a, b}, {{"metric", std::string("cosine")}}, "cosine"},
                              {{a, random_tensor({2, 3}, 1)}, {}, ""}});
}

TEST(NGramRepeatBlock, ForbidsWhatWouldRepeat) {
  const Tensor ids = Tensor::from<int64_t>({1, 5}, Ints{1, 2, 3, 1, 2}),
               scores = Tensor::zeros(DType::kFloat64, {1, 5});
  EXPECT_EQ(values(run_ms("NGramRepeatBlock", {ids, scores}, {{"ngram_size", int64_t{3}}})),
            (Values{0, 0, 0, -HUGE_VAL, 0}));
  EXPECT_EQ(values(run_ms("NGramRepeatBlock", {ids, scores}, {{"ngram_size", int64_t{9}}})),
            (Values{0, 0, 0, 0, 0}));
  expect_ms_refused("NGramRepeatBlock",
                    {{{ids, Tensor::zeros(DType::kFloat64, {1, 3})}, {{"ngram_size", int64_t{1}}}, "token 3"},
                     {{ids, scores}, {{"ngram_size", int64_t{0}}}, "must be positive"}});
}

// The published test values of MurmurHash3_x86_32.
TEST(MurmurHash3, HasThePublishedValues) {
  const auto hash = [](const char* text, int64_t seed) {
    return run_ms("MurmurHash3", {Tensor::vector<std::string>({text})}, {{"seed", seed}}).to_int64()[0];
  };
  EXPECT_EQ(hash("", 0), 0);
  EXPECT_EQ(hash("", 1), 0x514E28B7);
  EXPECT_EQ(hash("aaaa", 0x9747b28c), 0x5A97808A);
  EXPECT_EQ(hash("aaa", 0x9747b28c), 0x283E0130);
  EXPECT_EQ(hash("Hello, world!", 0x9747b28c), 0x24884CBA);
}

}  // namespace
}  // namespace assay::shapes_test
