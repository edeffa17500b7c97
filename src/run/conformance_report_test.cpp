#include "run/conformance_report.h"

#include <gtest/gtest.h>

namespace assay::conformance_report_test {
namespace {

using Verdict = ConformanceResult::Verdict;
using Lines = std::vector<std::string>;

/// Outcomes of cases a (opset 9, Abs) and b (opset 13, Abs and Relu) on two targets.
struct ConformanceReportTest : testing::Test {
  ConformanceOutcome outcome(size_t test, size_t target, Verdict verdict) {
    return {.test = &cases[test],
            .target = &targets[target],
            .result = {.name = cases[test].name, .verdict = verdict, .reason = "it differs"},
            .use = uses[test]};
  }
  std::vector<ConformanceOutcome> outcomes(Verdict a0, Verdict a1, Verdict b0, Verdict b1) {
    return {outcome(0, 0, a0), outcome(0, 1, a1), outcome(1, 0, b0), outcome(1, 1, b1)};
  }

  std::vector<ConformanceCase> cases = {{"node/a", ""}, {"node/b", ""}};
  std::vector<ConformanceTarget> targets = {{"engine", "", nullptr}, {"reference", "", nullptr}};
  std::vector<ConformanceUse> uses = {{{"ai.onnx 9"}, {"Abs"}}, {{"ai.onnx 13"}, {"Abs", "Relu"}}};
};

TEST_F(ConformanceReportTest, CountsByOpsetAndOperator) {
  const ConformanceReport r = conformance_report(
      outcomes(Verdict::kPassed, Verdict::kPassed, Verdict::kFailed, Verdict::kPassed), {}, true);
  EXPECT_EQ(r.passed, 3);
  EXPECT_EQ(r.failed, 1);
  EXPECT_EQ(r.problems, Lines{"FAILED engine node/b: it differs"});
  EXPECT_FALSE(r.is_good());
  EXPECT_EQ(r.table,
            "Opset       engine        reference\n"
            "ai.onnx 9   1             1\n"
            "ai.onnx 13  0 (1 failed)  1\n"
            "\n"
            "Operator    engine        reference\n"
            "Abs         1 (1 failed)  2\n"
            "Relu        0 (1 failed)  1\n"
            "\n"
            "All cases   1 (1 failed)  2");
}

TEST_F(ConformanceReportTest, AnExpectedFailureIsSkippedWithItsReason) {
  const ConformanceExpectations expected("# a comment\n\nengine node/b*: not yet\n", "list");
  const ConformanceReport r = conformance_report(
      outcomes(Verdict::kPassed, Verdict::kPassed, Verdict::kFailed, Verdict::kPassed), expected, true);
  EXPECT_TRUE(r.is_good());
  EXPECT_EQ(r.skipped, 1);
  EXPECT_EQ(r.reasons.at({"engine", "not yet"}), 1);
}

TEST_F(ConformanceReportTest, AnUnexpectedPassIsAProblem) {
  const ConformanceExpectations expected("* node/b: not yet", "list");
  const ConformanceReport r = conformance_report(
      outcomes(Verdict::kPassed, Verdict::kPassed, Verdict::kFailed, Verdict::kPassed), expected, true);
  EXPECT_EQ(r.problems,
            Lines{"UNEXPECTED PASS reference node/b: line 1 of the expectations says that it does not "
                  "(`not yet`)"});
}

TEST_F(ConformanceReportTest, AnEntryWithoutACaseIsAProblemWhenAllHaveRun) {
  const ConformanceExpectations expected("engine node/c: gone", "list");
  const auto all = outcomes(Verdict::kPassed, Verdict::kPassed, Verdict::kPassed, Verdict::kPassed);
  EXPECT_TRUE(conformance_report(all, expected, false).is_good());
  EXPECT_EQ(conformance_report(all, expected, true).problems,
            Lines{"UNUSED line 1 of the expectations matches no case: engine node/c"});
}

TEST(ConformanceExpectations, EveryLineNeedsAReason) {
  for (const char* line : {"engine node/a", "engine node/a:", "engine: reason", "node/a"}) {
    try {
      ConformanceExpectations(line, "list");
      ADD_FAILURE() << line;
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find("list: line 1 is not of the form"), std::string::npos) << e.what();
    }
  }
}

}  // namespace
}  // namespace assay::conformance_report_test
