// Tests of the pairing of outputs, and of the log lines about it.
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "base/log.h"
#include "compare/compare_test_util.h"
#include "compare/indices.h"
#include "compare/metrics.h"
#include "compare/simple.h"

namespace assay::accuracy_test {
namespace {

const Tensor& ramp() {
  static const Tensor t = Tensor::vector<float>({1, 2, 3, 4});
  return t;
}

/// Passes pairs of equal bits.
class Identical : public OutputwiseComparison {
 public:
  CompareFunction function() const override { return CompareFunction::kCustom; }
  std::string label() const override { return "identical"; }
  mutable std::vector<std::string> compared;

 protected:
  OutputResult compare_pair(const OutputPair& pair, PairCache&, const CompareOptions&,
                            CompareObserver&) const override {
    compared.push_back(pair.name0 + ":" + pair.name1);
    return {.output = pair.name0,
            .other = pair.name1,
            .passed = pair.output0.identical(pair.output1),
            .metrics = {},
            .threshold = {}};
  }
};

struct Compared {
  std::vector<std::string> pairs;
  std::string log;
};
Compared compare_names(const std::vector<std::string>& names0, const std::vector<std::string>& names1) {
  const auto list = [](const std::vector<std::string>& names) {
    TensorList tensors;
    for (const std::string& name : names) tensors.push_back({name, ramp()});
    return tensors;
  };
  const log::Capture capture({.threshold = log::Severity::kVerbose});
  const auto comparison = std::make_shared<Identical>();
  print_comparison(comparison, list(names0), list(names1));
  return {comparison->compared, capture.out()};
}

using Names = std::vector<std::string>;

TEST(CompareOutputs, TheSameNameWins) {
  EXPECT_EQ(compare_names({"a", "b"}, {"b", "x", "a"}).pairs, (Names{"a:a", "b:b"}));
}

TEST(CompareOutputs, ThenANameThatContainsTheOther) {
  const Compared c = compare_names({"y", "conv_out"}, {"CONV", "final_Y0"});
  EXPECT_EQ(c.pairs, (Names{"y:final_Y0", "conv_out:CONV"}));
  EXPECT_NE(
      c.log.find(
          "[W] Output names did not match exactly. Assuming B output: final_Y0 corresponds to output: y\n"),
      c.log.npos)
      << c.log;
}

TEST(CompareOutputs, ThenThePosition) {
  EXPECT_EQ(compare_names({"a", "b"}, {"x", "z"}).pairs, (Names{"a:x", "b:z"}));
  EXPECT_EQ(compare_names({"a", "b"}, {"x"}).pairs, (Names{"a:x"}));
}

TEST(CompareOutputs, AnOutputWithItsOwnCounterpartIsNotUsedTwice) {
  const Compared c = compare_names({"a", "b"}, {"b"});
  EXPECT_EQ(c.pairs, (Names{"b:b"}));
  EXPECT_TRUE(
      c.log.starts_with("[V] Will not compare b with a, since the former already has an exact match: b\n"
                        "[I] identical | Comparing Output: 'b' (dtype=float32, shape=(4,)) with 'b' "
                        "(dtype=float32, shape=(4,))\n"
                        "[I] PASSED | identical | All outputs matched | Outputs: ['b']\n"))
      << c.log;
}

TEST(CompareOutputs, NothingInCommonIsAnError) {
  const log::Capture capture;
  try {
    print_comparison(std::make_shared<Identical>(), {{"x", ramp()}}, {});
    FAIL() << "nothing was compared";
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(),
                 "All outputs were skipped, no common outputs found! Note:\nA outputs: ['x']\nB outputs: []");
  }
  EXPECT_EQ(capture.out(), "[I] PASSED | identical | All outputs matched | Outputs: []\n");
}

TEST(CompareOutputs, NoOutputsOnEitherSideIsNoError) {
  const log::Capture capture;
  EXPECT_TRUE(print_comparison(std::make_shared<Identical>(), {}, {}).passed());
}

TEST(CompareOutputs, FailFastEndsAtTheFirstMismatch) {
  const log::Capture capture;
  const auto comparison = std::make_shared<Identical>();
  const Tensor other = Tensor::vector<float>({0});
  const TensorList a = {{"x", ramp()}, {"y", ramp()}}, b = {{"x", other}, {"y", ramp()}};
  EXPECT_EQ(print_comparison(comparison, a, b, {.fail_fast = true}).functions[0].outputs.size(), 1u);
  EXPECT_EQ(capture.out().find("Mismatched outputs"), std::string::npos);
  EXPECT_EQ(print_comparison(comparison, a, b).functions[0].outputs.size(), 2u);
  EXPECT_NE(capture.out().find("[E] FAILED | identical | Mismatched outputs: ['x']\n"), std::string::npos);
}

TEST(CompareOutputs, ACustomMatchMayNameWhatDoesNotExist) {
  const log::Capture capture;
  const auto comparison = std::make_shared<Identical>();
  CompareOptions options;
  options.find = [](const OutputSource&, size_t i, const OutputSource&, CompareObserver&) {
    return i == 0 ? "q" : "gone";
  };
  print_comparison(comparison, {{"x", ramp()}, {"y", ramp()}}, {{"q", ramp()}}, options);
  EXPECT_EQ(comparison->compared, (Names{"x:q"}));
  EXPECT_NE(capture.out().find(
                "[W] For output: 'y' [A], skipping corresponding output: 'gone' [B], since the output was "
                "not found\n"),
            std::string::npos);
}

/// Counts how many of its tensors are alive.
class Counting : public OutputSource {
 public:
  Counting(std::string runner, Names names, int& alive, int& most)
      : runner_(std::move(runner)), names_(std::move(names)), alive_(alive), most_(most) {}
  const std::string& runner_name() const override { return runner_; }
  const Names& names() const override { return names_; }
  Tensor load(size_t) const override {
    const auto memory = std::make_shared<Guard>(alive_);
    most_ = std::max(most_, ++alive_);
    return Tensor::view(DType::kFloat32, Shape{2}, memory->values, memory);
  }

 private:
  struct Guard {
    explicit Guard(int& alive) : alive(alive) {}
    ~Guard() { --alive; }
    int& alive;
    float values[2] = {1, 2};
  };
  std::string runner_;
  Names names_;
  int &alive_, &most_;
};

TEST(CompareOutputs, HoldsNoMoreThanTwoOutputs) {
  const log::Capture capture;
  int alive = 0, most = 0;
  const Names names = {"a", "b", "c", "d"};
  const Counting a("A", names, alive, most), b("B", names, alive, most);
  const std::vector<std::shared_ptr<const Comparison>> functions = {
      std::make_shared<SimpleComparison>(SimpleOptions{}), std::make_shared<IndicesComparison>(0)};
  ComparisonText text;
  EXPECT_TRUE(compare_iteration(functions, a, b, {}, text).passed());
  EXPECT_EQ(most, 2);
  EXPECT_EQ(alive, 0);
}

RunnerOutputs runner(const std::string& name, const std::vector<Tensor>& iterations) {
  RunnerOutputs r{name, {}};
  for (const Tensor& t : iterations) r.iterations.push_back(outputs(name, {{"y", t}}));
  return r;
}

const Tensor& other() {
  static const Tensor t = Tensor::vector<float>({1, 2, 3, 5});
  return t;
}

std::vector<std::shared_ptr<const Comparison>> identical() { return {std::make_shared<Identical>()}; }

TEST(AccuracyComparison, PairsFirstThenIterationsThenSummaries) {
  const log::Capture capture;
  const std::vector<PairSummary> pairs = print_accuracy(
      {runner("A", {ramp(), other(), ramp()}), runner("B", {ramp(), ramp(), ramp()}),
       runner("C", {ramp(), ramp()})},
      {.functions = {std::make_shared<SimpleComparison>(SimpleOptions{.atol = Tolerance(1e-3)})}});
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_EQ(pairs[0].iterations, 2);
  EXPECT_EQ(pairs[0].passed_iterations, 1);
  EXPECT_TRUE(pairs[1].passed(Aggregation::kPerSample));
  std::string lines;
  std::istringstream log(capture.out());
  for (std::string line; std::getline(log, line);)
    if (line.find("Stats:") == line.npos && line.find("Tolerance") == line.npos && line.starts_with("[") &&
        line.find("----") == line.npos && line.find("Error Metrics") == line.npos)
      lines += line + "\n";
  EXPECT_EQ(lines, R"([I] Accuracy Comparison | A vs. B
[I] Accuracy Comparison | B vs. C
[I] Iteration: 0
[I]     simple | Comparing Output: 'y' (dtype=float32, shape=(4,)) with 'y' (dtype=float32, shape=(4,))
[I]         PASSED | Output: 'y' | Difference is within tolerance (rel=1e-05, abs=0.001)
[I]     PASSED | simple | All outputs matched | Outputs: ['y']
[I]     simple | Comparing Output: 'y' (dtype=float32, shape=(4,)) with 'y' (dtype=float32, shape=(4,))
[I]         PASSED | Output: 'y' | Difference is within tolerance (rel=1e-05, abs=0.001)
[I]     PASSED | simple | All outputs matched | Outputs: ['y']
[I] Iteration: 1
[I]     simple | Comparing Output: 'y' (dtype=float32, shape=(4,)) with 'y' (dtype=float32, shape=(4,))
[E]         FAILED | Output: 'y' | Difference exceeds tolerance (rel=1e-05, abs=0.001)
[E]     FAILED | simple | Mismatched outputs: ['y']
[I]     simple | Comparing Output: 'y' (dtype=float32, shape=(4,)) with 'y' (dtype=float32, shape=(4,))
[I]         PASSED | Output: 'y' | Difference is within tolerance (rel=1e-05, abs=0.001)
[I]     PASSED | simple | All outputs matched | Outputs: ['y']
[E] Accuracy Summary | A vs. B | Passed: 1/2 iterations | Pass Rate: 50.00%
[I] Accuracy Summary | B vs. C | Passed: 2/2 iterations | Pass Rate: 100.00%
)");
}

TEST(AccuracyComparison, FailFastEndsWithTheFirstMismatchAndASummaryLess) {
  const log::Capture capture;
  const auto pairs = print_accuracy({runner("A", {other(), ramp()}), runner("B", {ramp(), ramp()})},
                                    {.functions = identical(), .compare = {.fail_fast = true}});
  EXPECT_EQ(pairs.at(0).iterations, 1);
  EXPECT_EQ(pairs[0].passed_iterations, 0);
  EXPECT_EQ(capture.out().find("Summary"), std::string::npos) << capture.out();
}

TEST(AccuracyComparison, WithoutIterationsNothingPasses) {
  ComparisonText text;
  AccuracyComparison accuracy({.functions = identical()}, text);
  EXPECT_TRUE(accuracy.summaries().empty());
  EXPECT_FALSE(PairSummary{}.passed(Aggregation::kPerSample));
}

TEST(AccuracyComparison, EveryPairOfTheSameNamesCounts) {
  const log::Capture capture;
  const auto pairs = print_accuracy({runner("A", {other()}), runner("A", {ramp()}), runner("A", {ramp()})},
                                    {.functions = identical()});
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_FALSE(pairs[0].passed(Aggregation::kPerSample));
  EXPECT_TRUE(pairs[1].passed(Aggregation::kPerSample));
}

TEST(AccuracyComparison, ChosenPairs) {
  const log::Capture capture;
  const std::vector<RunnerOutputs> results = {runner("A", {ramp()}), runner("B", {other()}),
                                              runner("C", {ramp()})};
  const auto pairs = print_accuracy(results, {.functions = identical(), .compare = {}, .pairs = {{0, 2}}});
  EXPECT_TRUE(pairs.at(0).passed(Aggregation::kPerSample));
  EXPECT_EQ(pairs[0].runner1, "C");
  EXPECT_THROW(print_accuracy(results, {.functions = identical(), .compare = {}, .pairs = {{0, 3}}}), Error);
}

TEST(AccuracyComparison, EveryFunctionHasToPass) {
  const log::Capture capture;
  const std::vector<std::shared_ptr<const Comparison>> functions = {
      std::make_shared<MetricComparison>(CompareFunction::kL2, MetricOptions{.threshold = Tolerance(2)}),
      std::make_shared<MetricComparison>(CompareFunction::kCosineSimilarity, MetricOptions{})};
  const auto pairs =
      print_accuracy({runner("A", {ramp()}), runner("B", {other()})}, {.functions = functions});
  EXPECT_EQ(pairs.at(0).passed_iterations, 0);
  EXPECT_EQ(pairs[0].functions.at(0).outputs.at(0).passed, 1);
  EXPECT_EQ(pairs[0].functions.at(1).outputs.at(0).passed, 0);
  const std::string log = capture.out();
  EXPECT_EQ(log.find("A: y | Stats"), log.rfind("A: y | Stats")) << "once for all functions\n" << log;
}

TEST(AccuracyComparison, TheAverageDecides) {
  const log::Capture capture;
  const Tensor far = Tensor::vector<float>({1, 2, 3, 6});
  const auto pairs = print_accuracy(
      {runner("A", {ramp(), ramp()}), runner("B", {ramp(), far})},
      {.functions = {
           std::make_shared<MetricComparison>(CompareFunction::kL2,
                                              MetricOptions{.threshold = Tolerance(1.5)}),
           std::make_shared<SimpleComparison>(SimpleOptions{
               .rtol = Tolerance(0), .atol = Tolerance(1.5), .check_error_stat = ErrorStat::kMax})}});
  EXPECT_FALSE(pairs.at(0).passed(Aggregation::kPerSample));
  EXPECT_TRUE(pairs[0].passed(Aggregation::kAverage));
  EXPECT_EQ(std::get<double>(pairs[0].functions[0].outputs[0].mean), 1);
  EXPECT_EQ(std::get<SimpleMetrics>(pairs[0].functions[1].outputs[0].mean).max_absdiff, 1);
  const log::Capture summary;
  print_summary(pairs[0], Aggregation::kAverage);
  EXPECT_EQ(summary.out(),
            "[I] Accuracy Summary | A vs. B | Passed: 1/1 outputs\n"
            "[I]     y | PASSED:\n"
            "[I]         L2 Norm: 1 (tolerance: 1.5) | PASSED\n");
}

TEST(AccuracyComparison, AnAverageNeedsMetricsInEveryIteration) {
  const log::Capture capture;
  const auto pairs = print_accuracy(
      {runner("A", {ramp(), ramp()}), runner("B", {ramp(), Tensor::vector<float>({1})})},
      {.functions = {std::make_shared<MetricComparison>(CompareFunction::kL2, MetricOptions{})}});
  EXPECT_THROW((void)pairs.at(0).passed(Aggregation::kAverage), Error);
}

TEST(AccuracyComparison, MeansOfInfinities) {
  const log::Capture capture;
  const auto mean_of = [](const std::vector<Tensor>& other_runner) {
    const auto pairs = print_accuracy(
        {runner("A", {ramp(), ramp(), ramp()}), runner("B", other_runner)},
        {.functions = {std::make_shared<MetricComparison>(CompareFunction::kPsnr, MetricOptions{})}});
    return std::get<double>(pairs.at(0).functions[0].outputs[0].mean);
  };
  EXPECT_EQ(mean_of({ramp(), ramp(), ramp()}), INFINITY);
  EXPECT_EQ(mean_of({other(), ramp(), other()}), INFINITY);
  EXPECT_EQ(mean_of({ramp(), other(), other()}), INFINITY);
}

TEST(AccuracyComparison, SummariesSayWhatRunnersReallyWere) {
  const log::Capture capture;
  print_accuracy({runner("A", {ramp()}), runner("B", {ramp()})}, {.functions = identical()},
                 " | B: run by another");
  EXPECT_NE(capture.out().find("Passed: 1/1 iterations | Pass Rate: 100.00% | B: run by another\n"),
            std::string::npos)
      << capture.out();
}

}  // namespace
}  // namespace assay::accuracy_test
