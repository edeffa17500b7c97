#include "inspect/data_report.h"

#include <gtest/gtest.h>

namespace assay::data_text_test {
namespace {

std::string text_of(const char* name, const Tensor& t, const ArrayTextOptions& options, int level) {
  return array_text(describe(name, t, options), options, level);
}

TEST(DataTextTest, StatisticsOnOneLine) {
  const Tensor t = Tensor::vector<float>({1, 2, 3, 4});
  const std::string text = text_of("x", t, {}, 1);
  EXPECT_EQ(text.substr(0, 60), "\nx [dtype=float32, shape=(4,)] | Stats: mean=2.5, std-dev=1.");
  EXPECT_EQ(text.find('\n', 1), std::string::npos);
}

TEST(DataTextTest, ValuesAndHistogramAreIndented) {
  const std::string text =
      text_of("x", Tensor::vector<int64_t>({1, 2}), {.values = true, .histogram = true}, 2);
  EXPECT_EQ(text.substr(0, 10), "    \n    x");
  EXPECT_NE(text.find("\n        ---- Histogram ----\n"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("\n        [1 2]")) << text;
}

TEST(DataTextTest, LimitsOfLongArrays) {
  const Tensor t = Tensor::zeros(DType::kInt64, {2000});
  EXPECT_TRUE(text_of("x", t, {.values = true, .edge_items = 1}, 1).ends_with("\n    [0 ... 0]"));
  const std::string all = text_of("x", t, {.values = true, .edge_items = -1, .line_width = -1}, 1);
  EXPECT_EQ(all.find("..."), std::string::npos);
  EXPECT_EQ(all.find('\n', all.find("\n    [") + 1), std::string::npos);
}

TEST(DataTextTest, WhatHasNoNumbers) {
  const Tensor words = Tensor::vector<std::string>({"a", "b"});
  EXPECT_EQ(text_of("s", words, {.values = true}, 1),
            "\ns [dtype=string, shape=(2,)] | Stats: <Error while computing statistics>\n    ['a' 'b']");
  EXPECT_TRUE(
      text_of("e", Tensor::zeros(DType::kFloat32, {0}), {.histogram = true}, 1).ends_with("\n    None"));
  EXPECT_TRUE(text_of("b", Tensor::zeros(DType::kBool, {2}), {.histogram = true}, 1).ends_with("\n    "));
}

TEST(DataTextTest, Json) {
  std::string text;
  JsonWriter json([&](std::string_view piece) { text += piece; });
  DataJson report(json);
  report.begin_results(1, 1);
  report.begin_runner("r", 3);
  report.begin_iteration(0);
  report.add(describe("x", Tensor::vector<float>({1, 2, 3, 6}), {.histogram = true}));
  report.add(describe("s", Tensor::vector<std::string>({"a"}), {.histogram = true}));
  report.end_iteration();
  report.end_runner();
  report.end();
  for (const char* part : {"\"kind\": \"results\"", "\"iterations\": 3", "\"mean\": 3.0", "\"max_index\": 3",
                           "\"counts\": [", "\"dtype\": \"string\""})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  EXPECT_EQ(text.find("statistics", text.find("\"string\"")), std::string::npos) << text;
}

}  // namespace
}  // namespace assay::data_text_test
