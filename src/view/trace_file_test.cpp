#include "view/trace_file.h"

#include <gtest/gtest.h>

#include "base/json_value.h"
#include "view/saved_report.h"
#include "view/trace_events.h"

namespace assay::trace_file_test {
namespace {

/// A process of two threads with a child that left nothing.
std::vector<trace::Process> processes() {
  trace::Process p{.id = 10, .name = "assay run"};
  p.threads.push_back(
      {.id = 10,
       .name = "main",
       .texts = {"", "step", "outer", "panel"},
       .events = {{2'000, 3'000, 1, 3, trace::Kind::kStep}, {1'000, 4'000, 2, 0, trace::Kind::kRun}}});
  p.threads.push_back(
      {.id = 11, .name = "\x1b[31m\xff", .texts = {"", "bad \xff"}, .events = {{1'500, 1'600, 1, 0}}});
  p.memory.push_back({.time = 1'200, .own = 4096, .mapped = 8192});
  p.children.push_back({.id = 12, .start = 1'100, .end = 2'100, .name = "check", .outcome = "status 1"});
  p.left_out = 3;
  return {p};
}

std::string written(void (*write)(std::span<const trace::Process>, const PageSink&)) {
  std::string text;
  write(processes(), [&](std::string_view piece) { text += piece; });
  return text;
}

TEST(TraceFile, EventsThatEncloseOthersComeFirst) {
  const std::vector<trace::Event> events = nested_events(processes()[0].threads[0]);
  EXPECT_EQ(events[0].kind, trace::Kind::kRun);
  // With the same times the one that ended later encloses the other.
  const trace::Thread same{.events = {{1, 2, 0, 0, trace::Kind::kStep}, {1, 2, 0, 0, trace::Kind::kRun}}};
  EXPECT_EQ(nested_events(same)[0].kind, trace::Kind::kRun);
}

TEST(TraceFile, IsReadByViewersOfChromesForm) {
  const std::string text = written(write_trace_json);
  EXPECT_EQ(saved_kind(text), SavedKind::kTrace);
  const JsonValue document = parse_json(text, "trace");
  double steps = 0, lives = 0, memory = 0, left_out = 0;
  for (const JsonValue& e : document.items_of("traceEvents")) {
    if (e.text_of("cat") == "step") {
      ++steps;
      EXPECT_DOUBLE_EQ(e.number_of("ts"), 1.0);
      EXPECT_DOUBLE_EQ(e.number_of("dur"), 1.0);
      EXPECT_EQ(e.find("args")->text_of("tactic"), "panel");
    }
    if (e.text_of("cat") == "process") {
      ++lives;
      EXPECT_DOUBLE_EQ(e.number_of("pid"), 12);
      EXPECT_EQ(e.find("args")->text_of("outcome"), "status 1");
    }
    if (e.text_of("ph") == "C") memory += e.find("args")->number_of("own");
    if (e.text_of("name") == "spans left out") left_out += e.find("args")->number_of("count");
  }
  EXPECT_EQ(steps, 1);
  EXPECT_EQ(lives, 1);
  EXPECT_EQ(memory, 4096);
  EXPECT_EQ(left_out, 3);
}

TEST(TraceFile, PerfettosFormIsUtf8) {
  const std::string text = written(write_trace_perfetto);
  EXPECT_NE(text.find("panel"), std::string::npos);
  EXPECT_EQ(text.find('\xff' + std::string("\x12")), std::string::npos);
  EXPECT_NE(text.find("bad \\xff"), std::string::npos);
  EXPECT_EQ(text.find("\x1b[31m"), std::string::npos);
}

TEST(TraceFile, PagesShowEachThread) {
  const ReportTimeline timeline = trace_timeline(processes());
  EXPECT_EQ(timeline.threads,
            (std::vector<std::string>{"assay run: main", "assay run: \x1b[31m\xff", "check: main"}));
  ASSERT_EQ(timeline.events.size(), 4U);
  EXPECT_EQ(timeline.events[0].name, "outer");
  EXPECT_DOUBLE_EQ(timeline.events[0].duration, 3.0);
}

TEST(TraceFile, NothingIsAFile) {
  std::string text;
  write_trace_json({}, [&](std::string_view piece) { text += piece; });
  EXPECT_EQ(parse_json(text, "trace").items_of("traceEvents").size(), 0U);
}

}  // namespace
}  // namespace assay::trace_file_test
