#include "compare/postprocess.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/log.h"
#include "tensor/convert.h"

namespace assay::postprocess_test {
namespace {

using Indices = std::vector<int64_t>;

Indices elements(const Tensor& t) { return {t.span<int64_t>().begin(), t.span<int64_t>().end()}; }

TEST(TopK, LargestFirstAndStable) {
  const Tensor t = Tensor::vector<float>({1, 5, 5, -2, 7});
  EXPECT_EQ(elements(top_k_indices(t, 3)), (Indices{4, 1, 2}));
  EXPECT_EQ(elements(top_k_indices(t, 99)), (Indices{4, 1, 2, 0, 3}));
  EXPECT_EQ(elements(top_k_indices(Tensor::vector(std::vector<float>(50, 1)), 3)), (Indices{0, 1, 2}));
}

TEST(TopK, AlongAnAxis) {
  const Tensor t = Tensor::from<int32_t>(Shape{2, 3}, std::vector<int32_t>{1, 9, 2, 4, 3, 5});
  EXPECT_EQ(elements(top_k_indices(t, 1, 0)), (Indices{1, 0, 1}));
  const Tensor last = top_k_indices(t, 2, -1);
  EXPECT_EQ(last.shape(), (Shape{2, 2}));
  EXPECT_EQ(elements(last), (Indices{1, 2, 2, 0}));
  EXPECT_EQ(top_k_indices(t, 0, 0).shape(), (Shape{0, 3}));
}

TEST(TopK, NanComesLastAndUnsignedZeroToo) {
  EXPECT_EQ(elements(top_k_indices(Tensor::vector<float>({NAN, -INFINITY, NAN, 1}), 4)),
            (Indices{3, 1, 0, 2}));
  EXPECT_EQ(elements(top_k_indices(Tensor::vector<uint8_t>({0, 1, 255}), 3)), (Indices{2, 1, 0}));
  EXPECT_EQ(elements(top_k_indices(Tensor::vector<int64_t>({INT64_MIN, INT64_MAX, INT64_MAX - 1}), 3)),
            (Indices{1, 2, 0}));
  EXPECT_EQ(elements(top_k_indices(convert(Tensor::vector<float>({1, 3, 2}), DType::kFloat16), 1)),
            (Indices{1}));
}

TEST(TopK, Refusals) {
  EXPECT_THROW(top_k_indices(Tensor::scalar(1.0f), 1), Error);
  EXPECT_THROW(top_k_indices(Tensor::vector<float>({1}), -1), Error);
  EXPECT_THROW(top_k_indices(Tensor::vector<float>({1}), 1, 1), Error);
  EXPECT_THROW(top_k_indices(Tensor::vector<std::string>({"a"}), 1), Error);
}

std::shared_ptr<const OutputSource> outputs_after(const PerOutput<TopK>& top_k) {
  const Tensor t = Tensor::from<float>(Shape{2, 2}, std::vector<float>{1, 2, 4, 3});
  return TopKPostprocess(top_k).apply(
      std::make_shared<OutputList>("A", TensorList{{"x", t}, {"y", t}, {"z", t}}), std::nullopt);
}

TEST(TopKPostprocess, PerOutputWithoutLeakingTheAxis) {
  PerOutput<TopK> top_k;
  top_k.set("x", {.k = 1, .axis = 0});
  top_k.set("y", {.k = 1});
  const auto after = outputs_after(top_k);
  const OutputSource& outputs = *after;
  EXPECT_EQ(elements(outputs.load(0)), (Indices{1, 1}));
  EXPECT_EQ(elements(outputs.load(1)), (Indices{1, 0}));
  EXPECT_EQ(outputs.load(2).dtype(), DType::kFloat32) << "no entry, no change";
  EXPECT_EQ(outputs.names(), (std::vector<std::string>{"x", "y", "z"}));
  EXPECT_EQ(outputs.runner_name(), "A");
}

TEST(TopKPostprocess, ZeroMeansNoChange) {
  EXPECT_EQ(outputs_after(TopK{.k = 0})->load(0).dtype(), DType::kFloat32);
}

TEST(TopKPostprocess, ErrorsNameTheOutput) {
  try {
    outputs_after(TopK{.k = 1, .axis = 5})->load(1);
    FAIL() << "axis 5 was found";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("in the post-processing of output 'y'"), std::string::npos)
        << e.what();
  }
}

TEST(TopKPostprocess, TellsNamesThatNoOutputHas) {
  PerOutput<TopK> top_k;
  top_k.set("x", {.k = 1});
  top_k.set("z*", {.k = 1});
  top_k.set("firsst", {.k = 1});
  top_k.set("", {.k = 2});
  const auto unknown = TopKPostprocess(top_k).unknown({"x", "first"});
  ASSERT_EQ(unknown.size(), 2u);
  EXPECT_EQ(unknown[0].name, "z*");
  EXPECT_EQ(unknown[1].name, "firsst");
  EXPECT_EQ(unknown[1].suggestion, "Did you mean 'first'?");
}

}  // namespace
}  // namespace assay::postprocess_test
