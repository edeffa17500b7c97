// Which outputs are compared with which, and the lines around that.
#include <gtest/gtest.h>

#include <cmath>

#include "base/log.h"
#include "compare/compare_test_util.h"
#include "compare/simple.h"

namespace assay::accuracy_test {
namespace {

const Tensor& ramp() {
  static const Tensor t = Tensor::vector<float>({1, 2, 3, 4});
  return t;
}

/// Passes pairs of equal bits; logs nothing.
class Identical : public Comparison {
 public:
  OutputVerdict compare(const OutputPair& pair) const override {
    compared.push_back(pair.name0 + ":" + pair.name1);
    return {pair.name0, pair.output0.identical(pair.output1), {}};
  }
  mutable std::vector<std::string> compared;
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
  const Identical comparison;
  compare_outputs(comparison, OutputList("A", list(names0)), OutputList("B", list(names1)));
  return {comparison.compared, capture.out()};
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
  EXPECT_EQ(c.log,
            "[V] Will not compare b with a, since the former already has an exact match: b\n"
            "[I] Comparing Output: 'b' (dtype=float32, shape=(4,)) with 'b' (dtype=float32, shape=(4,))\n"
            "[I] PASSED | All outputs matched | Outputs: ['b']\n");
}

TEST(CompareOutputs, NothingInCommonIsAnError) {
  const log::Capture capture;
  const Identical comparison;
  EXPECT_THROW(compare_outputs(comparison, OutputList("A", {{"x", ramp()}}), OutputList("B", {})),
               log::LoggedError);
  EXPECT_EQ(capture.out(), "[I] PASSED | All outputs matched | Outputs: []\n");
  EXPECT_EQ(capture.err(),
            "[!] All outputs were skipped, no common outputs found! Note:\n    A outputs: ['x']\n    B "
            "outputs: []\n");
}

TEST(CompareOutputs, NoOutputsOnEitherSideIsNoError) {
  const log::Capture capture;
  EXPECT_TRUE(all_passed(compare_outputs(Identical(), OutputList("A", {}), OutputList("B", {}))));
}

TEST(CompareOutputs, FailFastEndsAtTheFirstMismatch) {
  const log::Capture capture;
  const Identical comparison;
  const Tensor other = Tensor::vector<float>({0});
  const OutputList a("A", {{"x", ramp()}, {"y", ramp()}}), b("B", {{"x", other}, {"y", ramp()}});
  EXPECT_EQ(compare_outputs(comparison, a, b, true).size(), 1u);
  EXPECT_EQ(capture.out().find("Mismatched outputs"), std::string::npos);
  EXPECT_EQ(compare_outputs(comparison, a, b, false).size(), 2u);
  EXPECT_NE(capture.out().find("[E] FAILED | Mismatched outputs: ['x']\n"), std::string::npos);
}

TEST(CompareOutputs, ACustomMatchMayNameWhatDoesNotExist) {
  const log::Capture capture;
  const Identical comparison;
  const OutputList a("A", {{"x", ramp()}, {"y", ramp()}}), b("B", {{"q", ramp()}});
  compare_outputs(comparison, a, b, false,
                  [](const OutputSource&, size_t i, const OutputSource&) { return i == 0 ? "q" : "gone"; });
  EXPECT_EQ(comparison.compared, (Names{"x:q"}));
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
  const SimpleComparison comparison({});
  EXPECT_TRUE(all_passed(compare_outputs(comparison, a, b)));
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

TEST(CompareAccuracy, IterationsAndSummaries) {
  const log::Capture capture;
  const SimpleComparison comparison({.atol = Tolerance(1e-3)});
  const std::vector<RunnerOutputs> results = {runner("A", {ramp(), other(), ramp()}),
                                              runner("B", {ramp(), ramp(), ramp()}), runner("C", {ramp()})};
  const AccuracyResult result = compare_accuracy(results, compare_with(comparison));
  EXPECT_FALSE(result.passed());
  ASSERT_EQ(result.pairs.size(), 2u);
  EXPECT_EQ(result.pairs[0].passed_iterations(), 2u);
  EXPECT_EQ(result.pairs[1].iterations.size(), 1u);
  EXPECT_EQ(capture.out(), R"([I] Accuracy Comparison | A vs. B
[I]     Iteration: 0
[I]         Comparing Output: 'y' (dtype=float32, shape=(4,)) with 'y' (dtype=float32, shape=(4,))
[I]             Tolerance: [abs=0.001, rel=1e-05] | Checking elemwise error
[I]             A: y | Stats: mean=2.5, std-dev=1.118, var=1.25, median=2.5, min=1 at (0,), max=4 at (3,), avg-magnitude=2.5, p90=3.7, p95=3.85, p99=3.97
[I]             B: y | Stats: mean=2.5, std-dev=1.118, var=1.25, median=2.5, min=1 at (0,), max=4 at (3,), avg-magnitude=2.5, p90=3.7, p95=3.85, p99=3.97
[I]             Error Metrics: y
[I]                 Minimum Required Tolerance: elemwise error | [abs=0] OR [rel=0] (requirements may be lower if both abs/rel tolerances are set)
[I]                 Absolute Difference | Stats: mean=0, std-dev=0, var=0, median=0, min=0 at (0,), max=0 at (0,), avg-magnitude=0, p90=0, p95=0, p99=0
[I]                 Relative Difference | Stats: mean=0, std-dev=0, var=0, median=0, min=0 at (0,), max=0 at (0,), avg-magnitude=0, p90=0, p95=0, p99=0
[I]             PASSED | Output: 'y' | Difference is within tolerance (rel=1e-05, abs=0.001)
[I]         PASSED | All outputs matched | Outputs: ['y']
[I]     Iteration: 1
[I]         Comparing Output: 'y' (dtype=float32, shape=(4,)) with 'y' (dtype=float32, shape=(4,))
[I]             Tolerance: [abs=0.001, rel=1e-05] | Checking elemwise error
[I]             A: y | Stats: mean=2.75, std-dev=1.479, var=2.1875, median=2.5, min=1 at (0,), max=5 at (3,), avg-magnitude=2.75, p90=4.4, p95=4.7, p99=4.94
[I]                 ---- Values ----
                        [1. 2. 3. 5.]
[I]                 ---- Histogram ----
                    Bin Range  |  Num Elems | Visualization
                    (1  , 1.4) |          1 | ########################################
                    (1.4, 1.8) |          0 | 
                    (1.8, 2.2) |          1 | ########################################
                    (2.2, 2.6) |          0 | 
                    (2.6, 3  ) |          0 | 
                    (3  , 3.4) |          1 | ########################################
                    (3.4, 3.8) |          0 | 
                    (3.8, 4.2) |          0 | 
                    (4.2, 4.6) |          0 | 
                    (4.6, 5  ) |          1 | ########################################
[I]             B: y | Stats: mean=2.5, std-dev=1.118, var=1.25, median=2.5, min=1 at (0,), max=4 at (3,), avg-magnitude=2.5, p90=3.7, p95=3.85, p99=3.97
[I]                 ---- Values ----
                        [1. 2. 3. 4.]
[I]                 ---- Histogram ----
                    Bin Range  |  Num Elems | Visualization
                    (1  , 1.4) |          1 | ########################################
                    (1.4, 1.8) |          0 | 
                    (1.8, 2.2) |          1 | ########################################
                    (2.2, 2.6) |          0 | 
                    (2.6, 3  ) |          0 | 
                    (3  , 3.4) |          1 | ########################################
                    (3.4, 3.8) |          0 | 
                    (3.8, 4.2) |          1 | ########################################
                    (4.2, 4.6) |          0 | 
                    (4.6, 5  ) |          0 | 
[I]             Error Metrics: y
[I]                 Minimum Required Tolerance: elemwise error | [abs=1] OR [rel=0.25] (requirements may be lower if both abs/rel tolerances are set)
[I]                 Absolute Difference | Stats: mean=0.25, std-dev=0.43301, var=0.1875, median=0, min=0 at (0,), max=1 at (3,), avg-magnitude=0.25, p90=0.7, p95=0.85, p99=0.97
[I]                     ---- Values ----
                            [0. 0. 0. 1.]
[I]                     ---- Histogram ----
                        Bin Range  |  Num Elems | Visualization
                        (0  , 0.1) |          3 | ########################################
                        (0.1, 0.2) |          0 | 
                        (0.2, 0.3) |          0 | 
                        (0.3, 0.4) |          0 | 
                        (0.4, 0.5) |          0 | 
                        (0.5, 0.6) |          0 | 
                        (0.6, 0.7) |          0 | 
                        (0.7, 0.8) |          0 | 
                        (0.8, 0.9) |          0 | 
                        (0.9, 1  ) |          1 | #############
[I]                 Relative Difference | Stats: mean=0.0625, std-dev=0.10825, var=0.011719, median=0, min=0 at (0,), max=0.25 at (3,), avg-magnitude=0.0625, p90=0.175, p95=0.2125, p99=0.2425
[I]                     ---- Values ----
                            [0.   0.   0.   0.25]
[I]                     ---- Histogram ----
                        Bin Range      |  Num Elems | Visualization
                        (0    , 0.025) |          3 | ########################################
                        (0.025, 0.05 ) |          0 | 
                        (0.05 , 0.075) |          0 | 
                        (0.075, 0.1  ) |          0 | 
                        (0.1  , 0.125) |          0 | 
                        (0.125, 0.15 ) |          0 | 
                        (0.15 , 0.175) |          0 | 
                        (0.175, 0.2  ) |          0 | 
                        (0.2  , 0.225) |          0 | 
                        (0.225, 0.25 ) |          1 | #############
[E]             FAILED | Output: 'y' | Difference exceeds tolerance (rel=1e-05, abs=0.001)
[E]         FAILED | Mismatched outputs: ['y']
[I]     Iteration: 2
[I]         Comparing Output: 'y' (dtype=float32, shape=(4,)) with 'y' (dtype=float32, shape=(4,))
[I]             Tolerance: [abs=0.001, rel=1e-05] | Checking elemwise error
[I]             A: y | Stats: mean=2.5, std-dev=1.118, var=1.25, median=2.5, min=1 at (0,), max=4 at (3,), avg-magnitude=2.5, p90=3.7, p95=3.85, p99=3.97
[I]             B: y | Stats: mean=2.5, std-dev=1.118, var=1.25, median=2.5, min=1 at (0,), max=4 at (3,), avg-magnitude=2.5, p90=3.7, p95=3.85, p99=3.97
[I]             Error Metrics: y
[I]                 Minimum Required Tolerance: elemwise error | [abs=0] OR [rel=0] (requirements may be lower if both abs/rel tolerances are set)
[I]                 Absolute Difference | Stats: mean=0, std-dev=0, var=0, median=0, min=0 at (0,), max=0 at (0,), avg-magnitude=0, p90=0, p95=0, p99=0
[I]                 Relative Difference | Stats: mean=0, std-dev=0, var=0, median=0, min=0 at (0,), max=0 at (0,), avg-magnitude=0, p90=0, p95=0, p99=0
[I]             PASSED | Output: 'y' | Difference is within tolerance (rel=1e-05, abs=0.001)
[I]         PASSED | All outputs matched | Outputs: ['y']
[E] Accuracy Summary | A vs. B | Passed: 2/3 iterations | Pass Rate: 66.66666666666666%
[I] Accuracy Comparison | B vs. C
[I]     Comparing Output: 'y' (dtype=float32, shape=(4,)) with 'y' (dtype=float32, shape=(4,))
[I]         Tolerance: [abs=0.001, rel=1e-05] | Checking elemwise error
[I]         B: y | Stats: mean=2.5, std-dev=1.118, var=1.25, median=2.5, min=1 at (0,), max=4 at (3,), avg-magnitude=2.5, p90=3.7, p95=3.85, p99=3.97
[I]         C: y | Stats: mean=2.5, std-dev=1.118, var=1.25, median=2.5, min=1 at (0,), max=4 at (3,), avg-magnitude=2.5, p90=3.7, p95=3.85, p99=3.97
[I]         Error Metrics: y
[I]             Minimum Required Tolerance: elemwise error | [abs=0] OR [rel=0] (requirements may be lower if both abs/rel tolerances are set)
[I]             Absolute Difference | Stats: mean=0, std-dev=0, var=0, median=0, min=0 at (0,), max=0 at (0,), avg-magnitude=0, p90=0, p95=0, p99=0
[I]             Relative Difference | Stats: mean=0, std-dev=0, var=0, median=0, min=0 at (0,), max=0 at (0,), avg-magnitude=0, p90=0, p95=0, p99=0
[I]         PASSED | Output: 'y' | Difference is within tolerance (rel=1e-05, abs=0.001)
[I]     PASSED | All outputs matched | Outputs: ['y']
[I] Accuracy Summary | B vs. C | Passed: 1/1 iterations | Pass Rate: 100.0%
)");
}

TEST(CompareAccuracy, FailFastGivesNoSummary) {
  const log::Capture capture;
  const Identical comparison;
  const std::vector<RunnerOutputs> results = {runner("A", {other(), ramp()}), runner("B", {ramp(), ramp()})};
  const AccuracyResult result =
      compare_accuracy(results, compare_with(comparison, true), {.fail_fast = true});
  EXPECT_FALSE(result.passed());
  EXPECT_EQ(result.pairs[0].iterations.size(), 1u);
  EXPECT_EQ(
      capture.out(),
      "[I] Accuracy Comparison | A vs. B\n"
      "[I]     Iteration: 0\n"
      "[I]         Comparing Output: 'y' (dtype=float32, shape=(4,)) with 'y' (dtype=float32, shape=(4,))\n");
}

TEST(CompareAccuracy, NoIterationsPass) {
  const log::Capture capture;
  const Identical comparison;
  EXPECT_TRUE(
      compare_accuracy(std::vector<RunnerOutputs>{runner("A", {}), runner("B", {})}, compare_with(comparison))
          .passed());
  EXPECT_EQ(capture.out(), R"([I] Accuracy Comparison | A vs. B
[I] Accuracy Summary | A vs. B | Passed: 0/0 iterations | Pass Rate: 100.0%
)");
}

TEST(CompareAccuracy, EveryPairOfTheSameNamesCounts) {
  const log::Capture capture;
  const Identical comparison;
  const std::vector<RunnerOutputs> results = {runner("A", {other()}), runner("A", {ramp()}),
                                              runner("A", {ramp()})};
  EXPECT_FALSE(compare_accuracy(results, compare_with(comparison)).passed());
}

TEST(CompareAccuracy, ChosenPairs) {
  const log::Capture capture;
  const Identical comparison;
  const std::vector<RunnerOutputs> results = {runner("A", {ramp()}), runner("B", {other()}),
                                              runner("C", {ramp()})};
  const AccuracyResult result =
      compare_accuracy(results, compare_with(comparison), {.comparisons = {{0, 2}}});
  EXPECT_TRUE(result.passed());
  EXPECT_EQ(result.pairs[0].runner1, "C");
  EXPECT_THROW(compare_accuracy(results, compare_with(comparison), {.comparisons = {{0, 3}}}), Error);
}

TEST(CompareAccuracy, SummariesSayWhatRunnersReallyWere) {
  const log::Capture capture;
  const SimpleComparison comparison({});
  const std::vector<RunnerOutputs> results = {runner("A", {ramp()}), runner("B", {ramp()})};
  compare_accuracy(results, compare_with(comparison),
                   {.fail_fast = false, .comparisons = {}, .notes = {{"B", "run by another"}}});
  EXPECT_NE(capture.out().find("Accuracy Summary | A vs. B | Passed: 1/1 iterations | Pass Rate: 100.0% | B: run by "
                               "another\n"),
            std::string::npos)
      << capture.out();
}

}  // namespace
}  // namespace assay::accuracy_test
