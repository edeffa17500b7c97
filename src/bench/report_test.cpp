#include "bench/report.h"

#include <gtest/gtest.h>

#include <cmath>

#include "bench/backend_name.h"
#include "bench/exports.h"
#include "bench/progress.h"

namespace assay::bench::report_test {
namespace {

/// Runs of 2 ms each, 1 ms apart, of which 1 ms is computing.
Lane lane_of(size_t runs) {
  Lane lane;
  for (size_t i = 0; i < runs; ++i) {
    const double t = 10 + 3e-3 * static_cast<double>(i);
    lane.runs.push_back({.start = t,
                         .enqueued = t + 0.5e-3,
                         .compute_start = t + 1e-3,
                         .compute_end = t + 2e-3,
                         .end = t + 2e-3});
  }
  lane.busy = 3e-3 * static_cast<double>(runs);
  return lane;
}

Row row_of(size_t runs) {
  Row row{.shapes = "x:1", .backend = "engine"};
  summarize_runs(row, lane_of(runs), {50});
  return row;
}

TEST(Report, RowsTellLatencyEnqueueAndComputeApart) {
  const Row row = row_of(6);
  EXPECT_NEAR(row.latency.median, 2, 1e-6);
  EXPECT_NEAR(row.enqueue.mean, 0.5, 1e-6);
  EXPECT_NEAR(row.compute.max, 1, 1e-6);
  EXPECT_NEAR(row.throughput, 1000.0 / 3, 1e-6);
  const Lines lines = summary_lines(row, 1);
  EXPECT_EQ(lines[0], "=== Performance summary ===");
  EXPECT_EQ(lines[1], "Throughput: 333.333 qps");
  EXPECT_EQ(lines[2], "Latency: min = 2 ms, max = 2 ms, mean = 2 ms, median = 2 ms, percentile(50%) = 2 ms");
  EXPECT_EQ(lines[4],
            "H2D Latency: min = 0 ms, max = 0 ms, mean = 0 ms, median = 0 ms, percentile(50%) = 0 ms");
  EXPECT_EQ(lines[8], "Total GPU Compute Time: 0.006 s");
}

TEST(Report, OfManyAveragesTheMiddleIsLeftOut) {
  const Lines few = trace_lines(row_of(25), 10);
  EXPECT_EQ(few.size(), 5U + 2U);
  EXPECT_EQ(few.back(), "Average on 10 runs - GPU latency: 1 ms - Host latency: 2 ms (enqueue 0.5 ms)");
  const Lines many = trace_lines(row_of(1000), 2);
  EXPECT_EQ(many.size(), 5U + 400U + 1U);
  EXPECT_EQ(many[5 + 200], "... Omitting 100 lines");
  EXPECT_EQ(trace_lines(row_of(400), 1).size(), 5U + 400U);
}

TEST(Report, ProfilesAddUp) {
  LayerTimes times{
      .shapes = "x:1", .runs = 2, .layers = {{"conv", {1, 2}}, {"idle", {0, 0}}, {"dense", {0.5, 0.5}}}};
  const Lines lines = profile_lines(times);
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_EQ(lines[0], "=== Profile (2 iterations ) ===");
  EXPECT_EQ(lines[2], "        3.00       1.5000       1.5000      75.0   conv");
  EXPECT_EQ(lines[3], "        1.00       0.5000       0.5000      25.0   dense");
  EXPECT_EQ(lines[4], "        4.00       2.0000       2.0000     100.0   Total");
}

TEST(Report, NamesAreEscapedInFiles) {
  LayerTimes times{.shapes = "", .runs = 1, .layers = {{"a\"b", {1}}}};
  std::string text;
  JsonWriter json([&](std::string_view piece) { text += piece; });
  write_profile(json, times);
  EXPECT_NE(text.find("\"name\": \"a\\\"b\""), std::string::npos) << text;
  EXPECT_NE(text.find("\"count\": 1"), std::string::npos) << text;
}

TEST(Report, DifferencesAreRelativeToTheLargestMagnitude) {
  const auto one = [](std::vector<float> v) { return TensorList{{"y", Tensor::vector(v)}}; };
  EXPECT_EQ(relative_difference(one({1, 4}), one({1, 4})), 0);
  EXPECT_NEAR(relative_difference(one({1.5F, 4}), one({1, 4})), 0.125, 1e-9);
  EXPECT_EQ(relative_difference(one({NAN, 4}), one({NAN, 4})), 0);
  EXPECT_EQ(relative_difference(one({INFINITY, 4}), one({INFINITY, 4})), 0);
  EXPECT_TRUE(std::isinf(relative_difference(one({NAN, 4}), one({1, 4}))));
}

TEST(Report, ProgressSaysWhatIsLeft) {
  EXPECT_EQ(
      progress_text({.phase = "timing tactics", .what = "a, b", .done = 10, .total = 40, .from_cache = 3}, 2),
      "timing tactics: 10 of 40, about 6 s left, 3 times from the cache: a, b");
  EXPECT_EQ(progress_text({.phase = "optimizing the network"}, 5), "optimizing the network");
}

TEST(Backends, LevelsAreOfTheEngineAlone) {
  EXPECT_EQ(parse_backend_name("engine:0", built_in_backends()).level, 0);
  EXPECT_FALSE(parse_backend_name("reference", built_in_backends()).level.has_value());
  for (const char* wrong : {"engine:6", "engine:", "engine:x", "reference:1", "nothing", ""})
    EXPECT_THROW(parse_backend_name(wrong, built_in_backends()), Error) << wrong;
}

}  // namespace
}  // namespace assay::bench::report_test
