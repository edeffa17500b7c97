#include "view/report.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/json_value.h"
#include "view/page.h"

namespace assay::report_test {
namespace {

JsonValue written(const Report& report) {
  std::string text;
  JsonWriter json([&](std::string_view piece) { text += piece; }, JsonStyle::kScript);
  write_report(json, report);
  return parse_json(text, "report");
}

TEST(Report, IsWholeAsJson) {
  Report report{.title = "t", .status = "Passed.", .is_good = true, .summary = {{"a", "b"}}};
  report.sections.emplace_back(
      ReportTable{.title = "table",
                  .columns = {{"node", ReportColumn::Kind::kNode},
                              {"time", ReportColumn::Kind::kNumber, "ms"},
                              {"empty"}},
                  .rows = {{std::string("x"), 1.5, {}},
                           {std::string("y"), std::numeric_limits<double>::quiet_NaN(), int64_t{3}}}});
  report.sections.emplace_back(ReportText{.title = "Log", .text = "</script>"});
  report.metric("m", "metric", "s", ReportMetric::Combine::kSum).numbers = {{"x", 1}, {"x", 2}};
  report.metric("m", "", "", ReportMetric::Combine::kSum).numbers.emplace_back("y", 3);
  report.metric("w", "words", "", ReportMetric::Combine::kMax).named = {{"x", "bad"}};
  report.timelines.push_back({.title = "T", .threads = {"main"}, .events = {{0, 1, 2, "e"}}});
  report.matching = ReportMatching{.pairs = {{"a", "b"}}, .changed = {{"a", "why"}}};
  const JsonValue json = written(report);
  EXPECT_EQ(json.text_of("status"), "Passed.");
  ASSERT_EQ(json.items_of("sections").size(), 2u);
  const JsonValue& table = json.items_of("sections")[0];
  EXPECT_EQ(table.items_of("columns")[0].text_of("kind"), "node");
  EXPECT_EQ(table.items_of("rows")[0].items[1].number, 1.5);
  EXPECT_EQ(table.items_of("rows")[0].items[2].kind, JsonValue::Kind::kNull);
  EXPECT_EQ(table.items_of("rows")[1].items[1].text, "NaN");
  ASSERT_EQ(json.items_of("metrics").size(), 2u) << "a key is a metric once";
  EXPECT_EQ(json.items_of("metrics")[0].items_of("values").size(), 3u);
  EXPECT_EQ(json.items_of("metrics")[1].text_of("kind"), "word");
  EXPECT_EQ(json.items_of("timelines")[0].items_of("events")[0].items[3].text, "e");
  EXPECT_EQ(json.find("matching")->items_of("changed")[0].items[1].text, "why");
}

TEST(Page, HasItsPartsAndNothingElse) {
  Report report;
  report.sections.emplace_back(ReportText{.title = "</script><script>alert(1)</script>", .text = "<!--"});
  std::string page;
  write_page({.report = [&](JsonWriter& json) { write_report(json, report); }},
             [&](std::string_view piece) { page += piece; });
  EXPECT_TRUE(page.starts_with("<!DOCTYPE html>"));
  EXPECT_TRUE(page.ends_with("</html>\n"));
  EXPECT_NE(page.find(R"(id="model">null</script>)"), std::string::npos);
  EXPECT_NE(page.find(R"(id="other">null</script>)"), std::string::npos);
  EXPECT_EQ(page.find("<script>alert"), std::string::npos);
  EXPECT_EQ(page.find("<!--"), std::string::npos);
}

}  // namespace
}  // namespace assay::report_test
