#include "compare/difference.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tensor/convert.h"

namespace assay::difference_test {
namespace {

template <typename T>
std::vector<T> values(const Numbers& numbers) {
  const Tensor t = materialize(numbers);
  EXPECT_EQ(t.dtype(), dtype_of<T>());
  EXPECT_EQ(t.shape(), numbers.shape());
  const auto span = t.span<T>();
  return {span.begin(), span.end()};
}

TEST(Difference, Float32StaysFloat32) {
  const Difference d(Tensor::vector<float>({0.1f, 1, -3}), Tensor::vector<float>({0.3f, 1, 4}));
  EXPECT_EQ(values<float>(d.absolute()), (std::vector<float>{0.3f - 0.1f, 0, 7}));
  EXPECT_EQ(values<float>(d.relative()), (std::vector<float>{(0.3f - 0.1f) / 0.3f, 0, 1.75f}));
}

TEST(Difference, NarrowFloatsAreCastToFloat32) {
  const Tensor a = convert(Tensor::vector<float>({60000, 1}), DType::kFloat16);
  const Tensor b = convert(Tensor::vector<float>({-60000, 3}), DType::kBFloat16);
  const Difference d(a, b);
  EXPECT_EQ(values<float>(d.absolute()), (std::vector<float>{119904, 2}));
}

TEST(Difference, MixesAreComputedInFloat64) {
  const Difference wide(Tensor::vector<float>({0.1f}), Tensor::vector<double>({0.3}));
  EXPECT_EQ(values<double>(wide.absolute()), (std::vector<double>{0.3 - static_cast<double>(0.1f)}));
  const Difference mixed(Tensor::vector<int32_t>({16777217}), Tensor::vector<float>({2}));
  EXPECT_EQ(values<double>(mixed.absolute()), (std::vector<double>{16777215}));
  EXPECT_EQ(values<double>(mixed.relative()), (std::vector<double>{16777215 / 2.0}));
}

TEST(Difference, ZeroOfFloatingTypeIsReplacedBeforeDividing) {
  const Difference d(Tensor::vector<float>({0, 1, 0}), Tensor::vector<float>({0, 0, -0.0f}));
  EXPECT_EQ(values<float>(d.relative()), (std::vector<float>{0, 4503599627370496.0f, 0}));
}

TEST(Difference, ZeroIntegersDivide) {
  const Difference d(Tensor::vector<int32_t>({0, 1}), Tensor::vector<int32_t>({0, 0}));
  const std::vector<double> relative = values<double>(d.relative());
  EXPECT_TRUE(std::isnan(relative[0]));
  EXPECT_EQ(relative[1], INFINITY);
}

TEST(Difference, IntegersDoNotWrapAround) {
  const Difference narrow(Tensor::vector<uint8_t>({1, 200}), Tensor::vector<uint8_t>({200, 1}));
  EXPECT_EQ(values<uint64_t>(narrow.absolute()), (std::vector<uint64_t>{199, 199}));
  const Difference unsigned_wide(Tensor::vector<uint64_t>({1, UINT64_MAX}), Tensor::vector<uint64_t>({2, 0}));
  EXPECT_EQ(values<uint64_t>(unsigned_wide.absolute()), (std::vector<uint64_t>{1, UINT64_MAX}));
  const Difference wide(Tensor::vector<int64_t>({INT64_MIN}), Tensor::vector<int64_t>({INT64_MAX}));
  EXPECT_EQ(values<uint64_t>(wide.absolute()), (std::vector<uint64_t>{UINT64_MAX}));
  EXPECT_DOUBLE_EQ(values<double>(wide.relative())[0], 2);
  const Difference signs(Tensor::vector<uint64_t>({UINT64_MAX}), Tensor::vector<int64_t>({-1}));
  EXPECT_EQ(values<double>(signs.absolute()), (std::vector<double>{0x1p64}));
}

TEST(Difference, BoolsDifferOrNot) {
  const Difference d(Tensor::vector<bool>({true, false, true}), Tensor::vector<bool>({true, true, false}));
  EXPECT_TRUE(d.is_bool());
  EXPECT_EQ(values<uint64_t>(d.absolute()), (std::vector<uint64_t>{0, 1, 1}));
  EXPECT_EQ(values<double>(d.relative()), (std::vector<double>{0, 1, INFINITY}));
  const Difference mixed(Tensor::vector<bool>({true, false}), Tensor::vector<float>({0.5f, 0}));
  EXPECT_FALSE(mixed.is_bool());
  EXPECT_EQ(values<float>(mixed.relative()), (std::vector<float>{1, 0}));
}

TEST(Difference, EqualInfinitiesDifferByNanUnlessToldOtherwise) {
  const Tensor a = Tensor::vector<float>({INFINITY, -INFINITY, INFINITY, 1});
  const Tensor b = Tensor::vector<float>({INFINITY, -INFINITY, -INFINITY, INFINITY});
  const std::vector<float> strict = values<float>(Difference(a, b).absolute());
  EXPECT_TRUE(std::isnan(strict[0]) && std::isnan(strict[1]));
  EXPECT_EQ(values<double>(Difference(a, b, true).absolute()),
            (std::vector<double>{0, 0, INFINITY, INFINITY}));
}

TEST(Difference, EqualInfinitiesMakeTheQuotientFloat64) {
  const Difference d(Tensor::vector<float>({0.3f}), Tensor::vector<float>({0.1f}), true);
  EXPECT_EQ(values<double>(d.absolute()), (std::vector<double>{static_cast<double>(0.3f - 0.1f)}));
  EXPECT_EQ(values<double>(d.relative()),
            (std::vector<double>{static_cast<double>(0.3f - 0.1f) / static_cast<double>(0.1f)}));
}

TEST(Difference, StatisticsOfIdenticalTensors) {
  const auto relative = [](const Tensor& t) {
    const Difference d(t, t);
    EXPECT_TRUE(d.identical());
    return d.relative_statistics(statistics(t));
  };
  EXPECT_EQ(relative(Tensor::vector<float>({0, 1})).max, 0);
  EXPECT_EQ(relative(Tensor::vector<int32_t>({3, 1})).max, 0);
  const Statistics zero_divided = relative(Tensor::vector<int32_t>({3, 0}));
  EXPECT_TRUE(zero_divided.has_nan());
  EXPECT_EQ(zero_divided.max_index, 1);
  EXPECT_TRUE(relative(Tensor::vector<float>({1, INFINITY})).has_nan());
}

TEST(Difference, MismatchesExceedBothTolerances) {
  std::vector<float> a(10000, 1), b(10000, 1);
  a[17] = 1.5f;   // absolute 0.5, relative 0.5
  a[4096] = 100;  // absolute 50, relative 1
  b[4096] = 50;
  a[9999] = NAN;
  b[5000] = 1.001f;
  const Difference d(Tensor::vector(a), Tensor::vector(b));
  EXPECT_EQ(mismatches(d, 0.1, 0.1), (std::vector<int64_t>{17, 4096, 9999}));
  EXPECT_EQ(mismatches(d, 1, 0.1), (std::vector<int64_t>{4096, 9999}));
  EXPECT_EQ(mismatches(d, 0.1, 0.6), (std::vector<int64_t>{4096, 9999}));
  EXPECT_EQ(mismatches(d, 1e9, 1e9), (std::vector<int64_t>{9999}));
  EXPECT_TRUE(any_mismatch(d, 1e9, 1e9));
  a[9999] = 1;
  EXPECT_FALSE(any_mismatch(Difference(Tensor::vector(a), Tensor::vector(b)), 1e9, 0));
}

TEST(Difference, TolerancesAreRoundedToTheTypeOfTheError) {
  const Difference single(Tensor::vector<float>({1.1f}), Tensor::vector<float>({1}));
  const double error = static_cast<double>(1.1f - 1.0f);
  EXPECT_TRUE(any_mismatch(single, std::nextafter(error, 0) - 1e-8, 0));
  EXPECT_FALSE(any_mismatch(single, std::nextafter(error, 0), 0))
      << "the tolerance rounds to the error itself";
  EXPECT_TRUE(exceeds(DType::kFloat64, error, std::nextafter(error, 0)));
  EXPECT_TRUE(exceeds(DType::kFloat32, NAN, 1));
  EXPECT_FALSE(exceeds(DType::kFloat32, 1, 1));
}

TEST(Difference, RefusesWhatCannotBeSubtracted) {
  EXPECT_THROW(
      Difference(Tensor::zeros(DType::kFloat32, Shape{2, 3}), Tensor::zeros(DType::kFloat32, Shape{3, 2})),
      Error);
  EXPECT_THROW(Difference(Tensor::vector<std::string>({"a"}), Tensor::vector<std::string>({"a"})), Error);
  EXPECT_THROW(
      Difference(Tensor::zeros(DType::kComplex64, Shape{1}), Tensor::zeros(DType::kFloat32, Shape{1})),
      Error);
}

}  // namespace
}  // namespace assay::difference_test
