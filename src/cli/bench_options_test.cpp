#include "cli/bench_options.h"

#include <gtest/gtest.h>

#include "assay/error.h"
#include "base/log.h"

namespace assay::cli::bench_options_test {
namespace {

bench::Options read(const std::vector<std::string>& words, bool as_trtexec) {
  ArgParser parser("bench", "");
  add_bench_options(parser, as_trtexec);
  return read_bench_options(parser.parse(words), as_trtexec);
}

TEST(BenchOptions, BothSpellingsMeanTheSame) {
  const auto house = read({"m.onnx",       "--save-engine",
                           "m.plan",       "--min-shapes",
                           "x:0:[1,3]",    "--max-shapes",
                           "x:0:[4,3]",    "--shapes",
                           "x:0:[2,3]",    "y:[5]",
                           "--warm-up",    "100",
                           "--duration",   "2",
                           "--percentile", "50",
                           "99",           "--workspace",
                           "64M",          "--record",
                           "--threads",    "3"},
                          false);
  const auto theirs = read({"--onnx=m.onnx", "--saveEngine=m.plan", "--minShapes=x:0:1x3",
                            "--maxShapes=x:0:4x3", "--shapes=x:0:2x3,y:5", "--warmUp=100", "--duration=2",
                            "--percentile=50,99", "--workspace=64", "--useCudaGraph", "--cpuThreads=3"},
                           true);
  for (const auto& o : {house, theirs}) {
    EXPECT_EQ(o.model, "m.onnx");
    EXPECT_EQ(o.save_plan, "m.plan");
    ASSERT_EQ(o.profiles.size(), 1U);
    EXPECT_EQ(o.profiles[0].min, (bench::ShapeSet{{"x:0", {1, 3}}}));
    EXPECT_TRUE(o.profiles[0].opt.empty());
    ASSERT_EQ(o.shapes.size(), 1U);
    EXPECT_EQ(o.shapes[0], (bench::ShapeSet{{"x:0", {2, 3}}, {"y", {5}}}));
    EXPECT_NEAR(o.warm_up, 0.1, 1e-12);
    EXPECT_EQ(o.duration, 2);
    EXPECT_EQ(o.percentiles, (std::vector<double>{50, 99}));
    EXPECT_EQ(o.build.workspace_limit, 64 << 20);
    EXPECT_TRUE(o.is_recorded);
    EXPECT_EQ(o.session.threads, 3);
  }
}

TEST(BenchOptions, ProfilesAreFilledInTheOrderOfTheLine) {
  const auto o = read({"--onnx=m.onnx", "--profile=1", "--minShapes=x:5", "--profile=0", "--minShapes=x:1",
                       "--optShapes=x:2"},
                      true);
  ASSERT_EQ(o.profiles.size(), 2U);
  EXPECT_EQ(o.profiles[0].min, (bench::ShapeSet{{"x", {1}}}));
  EXPECT_EQ(o.profiles[0].opt, (bench::ShapeSet{{"x", {2}}}));
  EXPECT_EQ(o.profiles[1].min, (bench::ShapeSet{{"x", {5}}}));
  EXPECT_THROW(read({"--onnx=m.onnx", "--profile=1", "--minShapes=x:5"}, true), Error);
}

TEST(BenchOptions, PlansAreKnownByTheirSuffix) {
  EXPECT_EQ(read({"a.plan"}, false).plan, "a.plan");
  EXPECT_EQ(read({"a.engine"}, false).plan, "a.engine");
  EXPECT_EQ(read({"a.onnxtxt"}, false).model, "a.onnxtxt");
}

TEST(BenchOptions, SizesHaveSuffixesOfOneMeaning) {
  EXPECT_EQ(parse_size("--o", "12", 1), 12);
  EXPECT_EQ(parse_size("--o", "12", 1 << 20), 12 << 20);
  for (const char* text : {"1.5M", "1.5m", "1.5MB", "1.5MiB", "1536K", "1572864B"})
    EXPECT_EQ(parse_size("--o", text, 1), 1572864) << text;
  for (const char* text : {"", "M", "1Q", "1MM", "-1", "1e30", "nan", "1 x"})
    EXPECT_THROW(parse_size("--o", text, 1), Error) << text;
}

TEST(BenchOptions, WhatHasNoEffectIsSaidOnce) {
  const log::Capture capture;
  read({"--onnx=m.onnx", "--int4", "--int4", "--threads", "--sparsity=force"}, true);
  EXPECT_EQ(
      capture.out(),
      "[W] --int4 has no effect: the engine of this build has no products of such numbers; they are computed "
      "in float32.\n"
      "[W] --threads has no effect: each stream has a thread of its own; the option for threads of a run is "
      "--cpuThreads.\n"
      "[W] --sparsity has no effect: the engine of this build has no kernels for sparse weights.\n");
}

TEST(BenchOptions, ThreadsOfAssayAreANumber) {
  const log::Capture capture;
  EXPECT_EQ(read({"m.onnx", "--threads", "2"}, false).session.threads, 2);
  EXPECT_EQ(capture.out(), "");
}

}  // namespace
}  // namespace assay::cli::bench_options_test
