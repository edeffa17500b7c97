#include "bench/roofline.h"

#include <gtest/gtest.h>

namespace assay::bench::roofline_test {
namespace {

/// 1e9 multiply-adds in a second; 1e9 bytes from up to 1000 bytes, 1e8 from more.
MachineLimits limits() {
  return {.multiply_adds = 1e9, .reading = [](int64_t bytes) { return bytes <= 1000 ? 1e9 : 1e8; }};
}

PlanLayerDescription layer(const std::string& name, std::vector<std::string> origins, size_t weight_bytes,
                           size_t value_bytes) {
  return {.name = name,
          .tactic = "t",
          .inputs = {{.name = name + "/weights", .bytes = weight_bytes, .is_constant = true},
                     {.name = name + "/in", .bytes = value_bytes}},
          .outputs = {},
          .origins = std::move(origins),
          .way = "",
          .parameters = {}};
}

LayerStats stats(const std::string& name, int64_t macs, Count times = 1) {
  LayerStats s;
  s.name = name;
  s.macs = macs;
  s.times = times;
  return s;
}

LayerTimes times_of(const std::vector<std::string>& names) {
  LayerTimes times{.shapes = "x:1", .runs = 3};
  for (const std::string& name : names) times.layers.push_back({name, {1, 2, 9}});
  return times;
}

TEST(Roofline, TheFloorIsTheLongestOfOperationsWeightsAndValues) {
  const EngineDescription engine{
      .name = "e",
      .layers = {layer("compute", {"a"}, 400, 100), layer("weights", {"b"}, 900, 10),
                 layer("values", {"c"}, 0, 5000)}};
  ModelStats model;
  model.layers = {stats("a", 1'000'000), stats("b", 10), stats("c", 10)};
  const Roofline r = make_roofline(engine, times_of({"compute", "weights", "values"}), &model, limits());
  ASSERT_EQ(r.layers.size(), 3U);
  EXPECT_DOUBLE_EQ(r.layers[0].floor, 1.0);
  EXPECT_EQ(r.layers[0].multiply_adds, 1'000'000);
  // 1300 bytes of weights in all, so none is still in a cache of 1000.
  EXPECT_DOUBLE_EQ(r.layers[1].floor, 1e3 * 900 / 1e8);
  EXPECT_DOUBLE_EQ(r.layers[2].floor, 1e3 * 5000 / 1e8);
  EXPECT_DOUBLE_EQ(r.layers[0].milliseconds, 2);
  EXPECT_DOUBLE_EQ(r.floor(), 1.0 + 0.009 + 0.05);
  EXPECT_DOUBLE_EQ(r.milliseconds(), 6);
}

TEST(Roofline, NarrowTypesHaveRatesOfTheirOwn) {
  EngineDescription engine{
      .name = "e", .layers = {layer("f", {"a"}, 0, 0), layer("i", {"b"}, 0, 0), layer("h", {"c"}, 0, 0)}};
  engine.layers[1].computes = "int8";
  engine.layers[2].computes = "bfloat16 (held in bfloat16)";
  ModelStats model;
  model.layers = {stats("a", 1'000'000), stats("b", 1'000'000), stats("c", 1'000'000)};
  int measured = 0;
  MachineLimits rates = limits();
  rates.int8_multiply_adds = [&] { return ++measured, 4e9; };
  Roofline r = make_roofline(engine, times_of({"f", "i", "h"}), &model, rates);
  EXPECT_DOUBLE_EQ(r.layers[0].floor, 1.0);
  EXPECT_DOUBLE_EQ(r.layers[1].floor, 0.25);
  EXPECT_DOUBLE_EQ(r.layers[2].floor, 1.0);  // its rate is not known
  EXPECT_EQ(measured, 1);
  EXPECT_NE(roofline_lines(r)[1].find("8.0 in int8,"), std::string::npos) << roofline_lines(r)[1];
}

TEST(Roofline, ANodeOfSeveralLayersCountsOnceAndABodyWithTheNodeAroundIt) {
  const EngineDescription engine{.name = "e",
                                 .layers = {layer("one", {"a", "loop"}, 0, 0), layer("two", {"a"}, 0, 0)}};
  ModelStats model;
  model.layers = {stats("a", 7), stats("loop", 0), stats("loop/body/inner", 5, 10)};
  const Roofline r = make_roofline(engine, times_of({"one", "two"}), &model, limits());
  EXPECT_EQ(r.layers[0].multiply_adds, 57);
  EXPECT_EQ(r.layers[1].multiply_adds, 0);
}

TEST(Roofline, ANodeCountsWithTheLayerThatHasItsWeights) {
  // As a quantized network is planned: "first" quantizes the operand of a, "second" is a with b's operand.
  const EngineDescription engine{.name = "e",
                                 .layers = {layer("first", {"a"}, 0, 10), layer("second", {"a", "b"}, 90, 10),
                                            layer("third", {"b"}, 50, 10)}};
  ModelStats model;
  model.layers = {stats("a", 7), stats("b", 9)};
  const Roofline r = make_roofline(engine, times_of({"first", "second", "third"}), &model, limits());
  EXPECT_EQ(r.layers[0].multiply_adds, 0);
  EXPECT_EQ(r.layers[1].multiply_adds, 7);
  EXPECT_EQ(r.layers[2].multiply_adds, 9);
}

TEST(Roofline, WhatOnlyMovesNumbersNeedsNoMoreOfATableThanItMakes) {
  PlanLayerDescription lookup = layer("lookup", {"gather"}, 900, 8);
  lookup.outputs = {{.name = "rows", .bytes = 40}};
  const EngineDescription engine{.name = "e", .layers = {lookup}};
  ModelStats model;
  model.layers = {stats("gather", 0)};
  const Roofline r = make_roofline(engine, times_of({"lookup"}), &model, limits());
  EXPECT_EQ(r.layers[0].weight_bytes, 40);
  EXPECT_EQ(r.layers[0].value_bytes, 48);
}

TEST(Roofline, WhatIsNotKnownIsNotCounted) {
  const EngineDescription engine{.name = "e",
                                 .layers = {layer("one", {"a"}, 0, 0), layer("two", {"b"}, 0, 0)}};
  ModelStats model;
  LayerStats open = stats("a", 0);
  open.macs = Count::symbol("n");
  model.layers = {open};
  const Roofline r = make_roofline(engine, times_of({"one", "other"}), &model, limits());
  EXPECT_EQ(r.layers[0].multiply_adds, std::nullopt);
  EXPECT_EQ(r.layers[1].milliseconds, 0) << "the profile has another layer there";
  const Lines lines = roofline_lines(r);
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_NE(lines[3].find("?"), std::string::npos);
  EXPECT_EQ(make_roofline(engine, times_of({"one"}), nullptr, limits()).layers[0].multiply_adds,
            std::nullopt);
}

}  // namespace
}  // namespace assay::bench::roofline_test
