#include "view/saved_report.h"

#include <gtest/gtest.h>

#include <cmath>

#include "assay/error.h"

namespace assay::saved_report_test {
namespace {

constexpr std::string_view kVerdict =
    R"json({"iterations": [{"outputs": [)json"
    R"json({"runner": "r", "output": "a", "node": "'n' (Conv)", "op_type": "Conv", "verdict": "rounding only",)json"
    R"json("error": 1e-7, "ratio": 0.5},)json"
    R"json({"runner": "r", "output": "b", "verdict": "WRONG", "error": "inf", "ratio": "inf",)json"
    R"json("unexplained_elements": 4, "pattern": "every row"}],)json"
    R"json("shares": [{"runner": "r", "output": "a", "op_type": "Conv", "share": 0.25, "own_error": 1e-9}]}]})json";

const ReportTable& table_of(const Report& report, size_t i) {
  return std::get<ReportTable>(report.sections.at(i));
}

TEST(SavedReport, KnowsFilesByTheirContent) {
  EXPECT_EQ(saved_kind(kVerdict), SavedKind::kVerdict);
  EXPECT_EQ(saved_kind(R"([{"count": 3}, {"name": "x"}])"), SavedKind::kProfile);
  EXPECT_EQ(saved_kind(R"({"displayTimeUnit": "ms", "traceEvents": []})"), SavedKind::kTrace);
  EXPECT_EQ(saved_kind(R"([{"ph": "X"}])"), SavedKind::kTrace);
  EXPECT_EQ(saved_kind(R"({"version": "1", "rows": []})"), SavedKind::kBench);
  EXPECT_EQ(saved_kind(R"({"summary": {}, "lint_entries": []})"), SavedKind::kFindings);
  EXPECT_EQ(saved_kind(R"({"same": true, "differences": []})"), SavedKind::kDiff);
  EXPECT_EQ(saved_kind(R"({"lst": [["runner)"), SavedKind::kResults) << "the beginning says it";
  for (const char* other : {"", "{}", "[]", "[1]", "{\"x\": 1}", "\x08\x07model", "[[[["})
    EXPECT_EQ(saved_kind(other), std::nullopt) << other;
}

TEST(SavedReport, VerdictsAreRankedAndBecomeColours) {
  Report report;
  add_saved(report, SavedKind::kVerdict, kVerdict, "v.json");
  EXPECT_EQ(report.is_good, false);
  const ReportTable& verdicts = table_of(report, 0);
  ASSERT_EQ(verdicts.rows.size(), 2u);
  EXPECT_EQ(std::get<std::string>(verdicts.rows[0][0]), "b") << "what is wrong comes first";
  EXPECT_TRUE(std::isinf(std::get<double>(verdicts.rows[0][6])));
  EXPECT_EQ(std::get<std::string>(verdicts.rows[0][8]), "every row");
  EXPECT_EQ(std::get<double>(table_of(report, 1).rows[0][3]), 25);
  const ReportMetric& words = report.metric("verdict", "", "", ReportMetric::Combine::kMax);
  ASSERT_EQ(words.named.size(), 2u);
  EXPECT_EQ(words.words.back(), "WRONG");
  const ReportMetric& ratio = report.metric("ratio", "", "", ReportMetric::Combine::kMax);
  ASSERT_EQ(ratio.numbers.size(), 2u);
  EXPECT_EQ(ratio.numbers[0].second, 0.5);
}

TEST(SavedReport, LayersAreJudgedByTheSecondRunWhereThereIsOne) {
  Report report;
  add_saved(report, SavedKind::kVerdict,
            R"({"iterations": [{"outputs": [{"output": "y", "verdict": "WRONG"}],
                "traced": {"outputs": [{"output": "inner", "verdict": "WRONG"}, {"output": "y", "verdict": "inherited"}]}}]})",
            "v.json");
  EXPECT_EQ(table_of(report, 0).rows.size(), 2u);
  EXPECT_EQ(std::get<std::string>(table_of(report, 0).rows[0][0]), "inner");
}

TEST(SavedReport, ProfilesAndTraces) {
  Report report;
  add_saved(
      report, SavedKind::kProfile,
      R"([{"count": 3}, {"name": "a", "averageMs": 1, "percentage": 25}, {"name": "b + c", "averageMs": 3, "percentage": 75}])",
      "p");
  EXPECT_EQ(std::get<std::string>(table_of(report, 0).rows[0][0]), "b + c");
  EXPECT_EQ(report.metric("time", "", "", ReportMetric::Combine::kSum).numbers.size(), 2u);
  add_saved(
      report, SavedKind::kTrace,
      R"({"traceEvents": [{"name": "thread_name", "ph": "M", "pid": 1, "tid": 7, "args": {"name": "runs"}},
                {"name": "a", "ph": "X", "pid": 1, "tid": 7, "ts": 5, "dur": 2}, {"name": "b", "ph": "X", "pid": 1, "tid": 8, "ts": 6, "dur": 1},
                {"name": "counter", "ph": "C", "ts": 1}]})",
      "t");
  ASSERT_EQ(report.timelines.size(), 1u);
  EXPECT_EQ(report.timelines[0].threads, (std::vector<std::string>{"runs", "thread 8"}));
  ASSERT_EQ(report.timelines[0].events.size(), 2u);
  EXPECT_EQ(report.timelines[0].events[1].thread, 1u);
}

TEST(SavedReport, FindingsAndDifferences) {
  Report report;
  add_saved(
      report, SavedKind::kFindings,
      R"({"lint_entries": [{"level": "info", "message": "m", "nodes": ["n"]}, {"level": "exception", "message": "bad"}]})",
      "l");
  EXPECT_EQ(report.is_good, false);
  EXPECT_EQ(std::get<std::string>(table_of(report, 0).rows[0][0]), "exception");
  Report diff;
  add_saved(diff, SavedKind::kDiff,
            R"({"same": true, "differences": [], "nodes_a": 2, "nodes_b": 2, "nodes_in_both": 2})", "d");
  EXPECT_EQ(diff.is_good, true);
}

TEST(SavedReport, DamageIsAnErrorAndOtherTypesAreEmpty) {
  Report report;
  EXPECT_THROW(add_saved(report, SavedKind::kVerdict, R"({"iterations": [{)", "v.json"), Error);
  for (const SavedKind kind : {SavedKind::kVerdict, SavedKind::kProfile, SavedKind::kTrace, SavedKind::kBench,
                               SavedKind::kFindings, SavedKind::kDiff})
    for (
        const char* text :
        {"{}", "[]", "3",
         R"({"iterations": 3, "rows": {}, "traceEvents": [1, null], "lint_entries": [[]], "differences": [""]})"})
      EXPECT_NO_THROW(add_saved(report, kind, text, "f")) << text;
}

}  // namespace
}  // namespace assay::saved_report_test
