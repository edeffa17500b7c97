#include "engine/objects/calibration_statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace assay::calibration_statistics_test {
namespace {

std::shared_ptr<Model> network() {
  auto model = std::make_shared<Model>();
  Graph& g = *model->graph;
  g.add_input("x", Type::tensor(DType::kFloat32));
  g.outputs.push_back(g.add_value("y", Type::tensor(DType::kFloat32)));
  return model;
}

/// Numbers whose magnitudes grow from set to set, so that histograms of parts reach differently far.
Tensor numbers(int set, int which) {
  std::mt19937 random(static_cast<unsigned>(2 * set + which));
  std::normal_distribution<float> normal(0, std::ldexp(1.0F, set % 7));
  std::vector<float> values(3000);
  for (float& v : values) v = normal(random);
  values[0] = 0;
  return Tensor::vector<float>(values);
}

std::string text_of(const CalibrationStatistics& s) {
  std::string text;
  JsonWriter json([&](std::string_view piece) { text += piece; });
  json.begin_object();
  s.write(json);
  json.end_object();
  return text;
}

CalibrationStatistics of_sets(const std::vector<int>& sets, CalibrationAlgorithm algorithm) {
  CalibrationStatistics s(*network()->graph, algorithm, 0.999);
  for (const int set : sets) {
    const Tensor x = numbers(set, 0), y = numbers(set, 1);
    s.check("x", x);
    s.add({&x, &y}, 1);
  }
  return s;
}

class Algorithms : public testing::TestWithParam<CalibrationAlgorithm> {};

/// In any order and grouping, through files, the statistics and the cache are those of one process.
TEST_P(Algorithms, PartsAddUpToTheByte) {
  const CalibrationStatistics whole = of_sets({0, 1, 2, 3, 4, 5, 6, 7}, GetParam());
  const std::vector<std::vector<int>> parts = {{6, 2}, {}, {0, 7, 3}, {5, 1, 4}};
  for (const std::vector<size_t>& order : {std::vector<size_t>{0, 1, 2, 3}, {3, 2, 1, 0}, {1, 3, 0, 2}}) {
    std::optional<CalibrationStatistics> all;
    for (const size_t p : order) {
      const CalibrationStatistics part =
          CalibrationStatistics::read(parse_json(text_of(of_sets(parts[p], GetParam())), "part"), "part");
      if (all)
        all->add(part);
      else
        all = part;
    }
    EXPECT_EQ(text_of(*all), text_of(whole));
    const auto quiet = [](const std::string& sentence) { FAIL() << sentence; };
    EXPECT_EQ(all->table(quiet).str(), whole.table(quiet).str());
  }
}

INSTANTIATE_TEST_SUITE_P(CalibrationStatistics, Algorithms,
                         testing::Values(CalibrationAlgorithm::kLegacy, CalibrationAlgorithm::kEntropy2,
                                         CalibrationAlgorithm::kMinMax,
                                         CalibrationAlgorithm::kMeanSquaredError));

std::string refusal(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& e) {
    return e.message();
  }
  return "";
}

TEST(CalibrationStatistics, RefusesOthersAndDamage) {
  CalibrationStatistics s = of_sets({0}, CalibrationAlgorithm::kEntropy2);
  EXPECT_NE(refusal([&] { s.add(of_sets({1}, CalibrationAlgorithm::kMinMax)); }).find("algorithms differ"),
            std::string::npos);
  const std::string text = text_of(s);
  for (const auto& [good, bad] : {std::pair{"\"counted\": 2999", "\"counted\": 2998"},
                                  {"\"largest\": ", "\"largest\": 9"},
                                  {"EntropyCalibration2", "EntropyCalibration9"},
                                  {"\"counts\": \"", "\"counts\": \"7,"}}) {
    std::string damaged = text;
    damaged.replace(damaged.find(good), std::string(good).size(), bad);
    EXPECT_NE(
        refusal([&] { CalibrationStatistics::read(parse_json(damaged, "p"), "p"); }).find("p is damaged"),
        std::string::npos)
        << bad;
  }
}

/// Constant data are noticed over all parts, not in each: two parts may be constant in different numbers.
TEST(CalibrationStatistics, ConstantDataAreThoseOfAllParts) {
  const auto constant = [](float value) {
    CalibrationStatistics s(*network()->graph, CalibrationAlgorithm::kMinMax, 1);
    const Tensor x = Tensor::vector<float>({value, value});
    s.check("x", x);
    s.add({&x, &x}, 1);
    return s;
  };
  const auto quiet = [](const std::string&) {};
  CalibrationStatistics zeros = constant(0);
  zeros.add(constant(0));
  EXPECT_NE(refusal([&] { (void)zeros.table(quiet); }).find("constant"), std::string::npos);
  zeros.add(constant(1));
  EXPECT_EQ(refusal([&] { (void)zeros.table(quiet); }), "");
}

TEST(CalibrationStatistics, NothingSeenGivesNoScales) {
  EXPECT_NE(refusal([] {
              (void)of_sets({}, CalibrationAlgorithm::kEntropy2).table([](const std::string&) {});
            }).find("no data to calibrate with"),
            std::string::npos);
}

}  // namespace
}  // namespace assay::calibration_statistics_test
