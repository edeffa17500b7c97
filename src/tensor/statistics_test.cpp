#include "tensor/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <random>

#include "tensor/convert.h"

namespace assay::statistics_test {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// Numbers from -5003 to 5003 in an order without pattern.
int64_t scattered(int64_t i) { return i * 7919 % 10007 - 5003; }

template <typename T>
Tensor make(int64_t n, const std::function<double(int64_t)>& f) {
  Tensor t = Tensor::allocate(dtype_of<T>(), Shape{n});
  T* p = t.mutable_data<T>();
  for (int64_t i = 0; i < n; ++i) p[i] = static_cast<T>(f(scattered(i)));
  return t;
}

/// NumPy's results in extended precision for the same numbers.
struct Golden {
  const char* name;
  Tensor tensor;
  double mean, std_dev, variance, median, min, max, magnitude, p90, p95, p99, p25;
  int64_t min_index, max_index, zeros;
};

std::vector<Golden> goldens() {
  const auto ramp = [](int64_t v) { return static_cast<double>(v) / 64; };
  const auto relu = [](int64_t v) { return std::max(static_cast<double>(v) / 64, 0.0); };
  const auto big = [](int64_t v) { return static_cast<double>(v * 1000003); };
  const auto byte = [](int64_t v) { return static_cast<double>(((v % 256) + 256) % 256); };
  const auto signed_byte = [&](int64_t v) { return byte(v) < 128 ? byte(v) : byte(v) - 256; };
  const auto truth = [](int64_t v) { return v > 1000 ? 1.0 : 0.0; };
  return {
      {"one", make<float>(1, ramp), -78.171875, 0, 0, -78.171875, -78.171875, -78.171875, 78.171875,
       -78.171875, -78.171875, -78.171875, -78.171875, 0, 0, 0},
      {"two", make<float>(2, ramp), -16.3046875, 61.8671875, 3827.5488891601562, -16.3046875, -78.171875,
       45.5625, 61.8671875, 33.189062500000006, 39.375781249999996, 44.32515625, -47.23828125, 0, 1, 0},
      {"first histogram", make<float>(2049, ramp), 0.06932497559785261, 45.14977017133938, 2038.501746524767,
       0.140625, -78.171875, 78.171875, 39.1040675329429, 62.571875000000006, 70.353125, 76.59625, -39.09375,
       0, 1040, 1},
      {"many blocks", make<float>(300007, ramp), 0.0005739970234027872, 45.13713969519792, 2037.3613798638112,
       0, -78.171875, 78.171875, 39.089898579449816, 62.546875, 70.359375, 76.609375, -39.09375, 0, 1040, 30},
      {"half zero", make<float>(300007, relu), 19.54523628823661, 25.23257811135271, 636.6829981455159, 0, 0,
       78.171875, 19.54523628823661, 62.546875, 70.359375, 76.609375, 0, 0, 1040, 150017},
      {"float64", make<double>(70001, ramp), 0.0013861409122726818, 45.137040242436, 2037.3524018472872, 0,
       -78.171875, 78.171875, 39.089808984871645, 62.546875, 70.359375, 76.609375, -39.09375, 0, 1040, 7},
      {"int64", make<int64_t>(70001, big), 88713.28452450679, 2888779241.8276305, 8.345045508014221e+18, 0,
       -5003015009, 5003015009, 2501755280.2751102, 4003012009, 4503013509, 4903014709, -2502007506, 0, 1040,
       7},
      {"uint8", make<uint8_t>(5001, byte), 127.45270945810837, 73.81944426157075, 5449.3103510871515, 127, 0,
       255, 127.45270945810837, 230, 243, 253, 64, 251, 258, 18},
      {"int8", make<int8_t>(5001, signed_byte), -0.47050589882023597, 74.04603579423173, 5482.815416840647, 0,
       -128, 127, 64.13057388522296, 102, 115, 125, -65, 138, 102, 18},
      {"float16", convert(make<float>(5001, ramp), DType::kFloat16), 0.05741039292141572, 45.14469030564518,
       2038.0430627926135, 0.09375, -78.1875, 78.1875, 39.09830846330734, 62.625, 70.375, 76.625, -39.09375,
       0, 1040, 1},
      {"bool", make<bool>(5001, truth), 0.4003199360127974, 0.48996314641359223, 0.2400638848435072, 0, 0, 1,
       0.4003199360127974, 1, 1, 1, 0, 0, 1, 2999},
  };
}

TEST(Statistics, AgreesWithNumPy) {
  for (const Golden& g : goldens()) {
    SCOPED_TRACE(g.name);
    const Statistics s = statistics(g.tensor, 0.25);
    EXPECT_EQ(s.count, g.tensor.numel());
    EXPECT_NEAR(s.mean, g.mean, 1e-13 * g.magnitude);
    EXPECT_NEAR(s.std_dev, g.std_dev, 1e-13 * g.std_dev);
    EXPECT_NEAR(s.variance, g.variance, 1e-13 * g.variance);
    EXPECT_NEAR(s.average_magnitude, g.magnitude, 1e-13 * g.magnitude);
    EXPECT_DOUBLE_EQ(s.median, g.median);
    EXPECT_DOUBLE_EQ(s.min, g.min);
    EXPECT_DOUBLE_EQ(s.max, g.max);
    EXPECT_DOUBLE_EQ(s.p90, g.p90);
    EXPECT_DOUBLE_EQ(s.p95, g.p95);
    EXPECT_DOUBLE_EQ(s.p99, g.p99);
    EXPECT_DOUBLE_EQ(s.quantile, g.p25);
    EXPECT_EQ(s.min_index, g.min_index);
    EXPECT_EQ(s.max_index, g.max_index);
    EXPECT_EQ(s.zero_count, g.zeros);
    EXPECT_TRUE(s.all_finite());
    EXPECT_FALSE(s.has_nan());
  }
}

double sorted_quantile(std::vector<double> sorted, double q) {
  const double position = static_cast<double>(sorted.size() - 1) * q;
  const auto below = static_cast<size_t>(position);
  const double a = sorted[below], b = sorted[std::min(below + 1, sorted.size() - 1)];
  return a + (b - a) * (position - static_cast<double>(below));
}

template <typename T>
void expect_same_as_sorting(const char* name, const std::vector<T>& values) {
  SCOPED_TRACE(name);
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const Statistics s = statistics(Tensor::vector(values), 0.001);
  EXPECT_EQ(s.min, sorted.front());
  EXPECT_EQ(s.max, sorted.back());
  EXPECT_EQ(s.median, (sorted[(sorted.size() - 1) / 2] + sorted[sorted.size() / 2]) / 2);
  EXPECT_DOUBLE_EQ(s.p90, sorted_quantile(sorted, 0.9));
  EXPECT_DOUBLE_EQ(s.p95, sorted_quantile(sorted, 0.95));
  EXPECT_DOUBLE_EQ(s.p99, sorted_quantile(sorted, 0.99));
  EXPECT_DOUBLE_EQ(s.quantile, sorted_quantile(sorted, 0.001));
}

/// Adversarial data for selection: equal
/// leading bits, masses of one value, outliers.
template <typename T>
void expect_selection_works(const char* type) {
  SCOPED_TRACE(type);
  std::mt19937_64 random(7);
  const auto unit = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  const auto fill = [&](const auto& f) {
    std::vector<T> values(50021);
    for (T& v : values) v = static_cast<T>(f());
    return values;
  };
  expect_same_as_sorting("equal leading bits", fill([&] { return 1000000 + 100 * unit(); }));
  expect_same_as_sorting("few values", fill([&] { return 1 + std::floor(4 * unit()); }));
  expect_same_as_sorting("mostly zero", fill([&] { return unit() < 0.97 ? 0.0 : 1e6 * unit(); }));
  expect_same_as_sorting("mostly one value", fill([&] { return unit() < 0.97 ? 77.0 : 1e6 * unit(); }));
  expect_same_as_sorting("all magnitudes", fill([&] { return std::exp(40 * unit()); }));
  std::vector<T> ascending(50021);
  for (size_t i = 0; i < ascending.size(); ++i) ascending[i] = static_cast<T>(i);
  expect_same_as_sorting("ascending", ascending);
  std::reverse(ascending.begin(), ascending.end());
  expect_same_as_sorting("descending", ascending);
}

TEST(Statistics, SelectsQuantilesFromAdversarialData) {
  expect_selection_works<float>("float32");
  expect_selection_works<double>("float64");
  expect_selection_works<int64_t>("int64");
  expect_selection_works<uint64_t>("uint64");
  expect_selection_works<int32_t>("int32");
}

TEST(Statistics, SelectsAmongNegativeAndTinyNumbers) {
  std::mt19937_64 random(11);
  std::vector<float> tiny(50021), negative(50021);
  for (float& v : tiny) v = std::ldexp(static_cast<float>(random() >> 40), -149) * (random() % 2 ? 1 : -1);
  for (float& v : negative) v = -static_cast<float>(random() >> 40);
  expect_same_as_sorting("subnormal", tiny);
  expect_same_as_sorting("negative", negative);
}

TEST(Statistics, SurvivesASampleThatMisleads) {
  // The sample is taken from 1024 blocks at most, spread evenly. All other blocks hold other values.
  constexpr int64_t kBlocks = 2049;
  std::vector<float> values(static_cast<size_t>(kBlocks * Numbers::kBlock), 5.0f);
  for (int64_t b = 0; b < 1024; ++b) {
    const auto first = static_cast<size_t>(b * kBlocks / 1024 * Numbers::kBlock);
    for (size_t i = 0; i < Numbers::kBlock; ++i)
      values[first + i] = static_cast<float>((i * 37 + first) % 1000) / 1000;
  }
  expect_same_as_sorting("two populations", values);
}

TEST(Statistics, EmptyTensors) {
  const Statistics s = statistics(Tensor::allocate(DType::kFloat32, Shape{0, 3}), 0.5);
  EXPECT_EQ(s.count, 0);
  EXPECT_TRUE(std::isnan(s.mean));
  EXPECT_TRUE(std::isnan(s.average_magnitude));
  EXPECT_EQ(s.std_dev, 0);
  EXPECT_EQ(s.median, 0);
  EXPECT_EQ(s.min, 0);
  EXPECT_EQ(s.min_index, -1);
  EXPECT_EQ(s.p90, kInf);
  EXPECT_EQ(s.quantile, kInf);
}

TEST(Statistics, Scalars) {
  const Statistics s = statistics(Tensor::scalar(-2.5f), 1.0);
  EXPECT_EQ(s.mean, -2.5);
  EXPECT_EQ(s.variance, 0);
  EXPECT_EQ(s.quantile, -2.5);
  EXPECT_EQ(s.average_magnitude, 2.5);
  EXPECT_EQ(s.min_index, 0);
}

TEST(Statistics, OneNanMakesEverythingNan) {
  std::vector<float> values(5000, 1.0f);
  values[4097] = values[4999] = static_cast<float>(kNan);
  const Statistics s = statistics(Tensor::vector(values), 0.5);
  for (const double x : {s.mean, s.std_dev, s.variance, s.median, s.min, s.max, s.average_magnitude, s.p90,
                         s.p95, s.p99, s.quantile})
    EXPECT_TRUE(std::isnan(x));
  EXPECT_EQ(s.min_index, 4097);
  EXPECT_EQ(s.max_index, 4097);
  EXPECT_TRUE(s.has_nan());
  EXPECT_FALSE(s.all_finite());
}

TEST(Statistics, InfinitiesFollowNumPyArithmetic) {
  const Statistics one = statistics(Tensor::vector<float>({INFINITY}));
  EXPECT_EQ(one.mean, kInf);
  EXPECT_TRUE(std::isnan(one.std_dev));
  EXPECT_TRUE(std::isnan(one.variance));
  EXPECT_EQ(one.median, kInf);
  EXPECT_EQ(one.average_magnitude, kInf);
  EXPECT_TRUE(std::isnan(one.p90));
  EXPECT_FALSE(one.has_nan());
  EXPECT_FALSE(one.all_finite());

  const Statistics two = statistics(Tensor::vector<double>({-kInf, kInf}));
  EXPECT_TRUE(std::isnan(two.mean));
  EXPECT_TRUE(std::isnan(two.median));
  EXPECT_EQ(two.min, -kInf);
  EXPECT_EQ(two.max, kInf);
  EXPECT_EQ(two.average_magnitude, kInf);

  const Statistics three = statistics(Tensor::vector<float>({1, 2, INFINITY}));
  EXPECT_EQ(three.median, 2);
  EXPECT_TRUE(std::isnan(three.p90)) << "NumPy subtracts from the upper neighbour";
}

TEST(Statistics, ConstantsHaveNoSpread) {
  const Statistics s = statistics(Tensor::vector(std::vector<float>(50000, 0.1f)));
  EXPECT_EQ(s.mean, static_cast<double>(0.1f));
  EXPECT_EQ(s.variance, 0);
  EXPECT_EQ(s.p99, static_cast<double>(0.1f));
  EXPECT_EQ(s.max_index, 0);
}

TEST(Statistics, VarianceSurvivesALargeMean) {
  std::vector<double> values;
  for (int i = 0; i < 50000; ++i) values.push_back(1e9 + i % 2);
  EXPECT_DOUBLE_EQ(statistics(Tensor::vector(values)).variance, 0.25);
}

TEST(Statistics, FindsTheFirstExtremeOfManyInAnyBlock) {
  std::vector<float> values(200000, 0.0f);
  values[150000] = values[150001] = values[199999] = 3;
  values[70000] = values[90000] = -3;
  const Statistics s = statistics(Tensor::vector(values));
  EXPECT_EQ(s.max_index, 150000);
  EXPECT_EQ(s.min_index, 70000);
}

TEST(Statistics, SignedZerosAreOneValue) {
  std::vector<float> values = {1, -0.0f, 0.0f, 1};
  const Statistics s = statistics(Tensor::vector(values));
  EXPECT_EQ(s.min_index, 1);
  EXPECT_TRUE(std::signbit(s.min));
  EXPECT_EQ(s.zero_count, 2);
}

TEST(Statistics, ExtremesOfInt64AreExact) {
  const Statistics s =
      statistics(Tensor::vector<int64_t>({INT64_MAX - 1, INT64_MAX, INT64_MIN + 1, INT64_MIN}));
  EXPECT_EQ(s.max_index, 1);
  EXPECT_EQ(s.min_index, 3);
  EXPECT_EQ(s.average_magnitude, 0x1p63);
}

TEST(Statistics, PackedTypes) {
  const uint8_t bytes[] = {0x21, 0xf3};  // 1, 2, 3, -1
  const Statistics s = statistics(Tensor::view(DType::kInt4, Shape{4}, bytes, nullptr));
  EXPECT_EQ(s.mean, 1.25);
  EXPECT_EQ(s.min_index, 3);
}

TEST(Statistics, RefusesWhatHasNoOrder) {
  EXPECT_THROW(statistics(Tensor::vector<std::string>({"a"})), Error);
  EXPECT_THROW(statistics(Tensor::zeros(DType::kComplex64, Shape{2})), Error);
  EXPECT_THROW(statistics(Tensor::scalar(1.0f), 1.5), Error);
  EXPECT_THROW(statistics(Tensor::scalar(1.0f), kNan), Error);
}

}  // namespace
}  // namespace assay::statistics_test
