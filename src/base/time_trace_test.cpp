#include "base/time_trace.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/temporary_folder.h"
#include "base/time_trace_file.h"

namespace assay::time_trace_test {
namespace {

const trace::Thread& thread_of(const trace::Process& p, int64_t id) {
  for (const trace::Thread& t : p.threads)
    if (t.id == id) return t;
  throw std::runtime_error("no such thread");
}

TEST(TimeTrace, NotesNothingBeforeItIsAsked) {
  {
    const trace::Span span(trace::Kind::kRun,
                           []() -> std::string { throw std::logic_error("made in vain"); });
  }
  trace::record("test");
  EXPECT_TRUE(trace::take().threads.empty());
}

TEST(TimeTrace, SpansAreThoseOfTheirThreads) {
  trace::record("test");
  {
    const trace::Span outer(trace::Kind::kBuild, "outer");
    const trace::Span inner(
        trace::Kind::kStep, [] { return "inner"; }, "tactic");
  }
  std::thread([] {
    trace::name_thread("other");
    const trace::Span span(trace::Kind::kLoop, "loop");
  }).join();
  const trace::Process p = trace::take();
  EXPECT_FALSE(trace::is_on());
  EXPECT_EQ(p.id, ::getpid());
  EXPECT_EQ(p.name, "test");
  ASSERT_EQ(p.threads.size(), 2U);
  const trace::Thread& main = thread_of(p, ::gettid());
  ASSERT_EQ(main.events.size(), 2U);
  EXPECT_EQ(main.texts[main.events[0].name], "inner");
  EXPECT_EQ(main.texts[main.events[0].detail], "tactic");
  EXPECT_EQ(main.events[1].kind, trace::Kind::kBuild);
  EXPECT_LE(main.events[1].start, main.events[0].start);
  EXPECT_GE(main.events[1].end, main.events[0].end);
  EXPECT_EQ(p.threads[0].id == main.id ? p.threads[1].name : p.threads[0].name, "other");
  EXPECT_GE(p.memory.size(), 2U);
  EXPECT_GT(p.memory[0].own + p.memory[0].mapped, 0);
}

TEST(TimeTrace, OneRecordingAfterTheOther) {
  for (int i = 0; i < 3; ++i) {
    trace::record("test");
    { const trace::Span span(trace::Kind::kRun, "run"); }
    const trace::Process p = trace::take();
    ASSERT_EQ(p.threads.size(), 1U);
    EXPECT_EQ(p.threads[0].events.size(), 1U);
  }
}

TEST(TimeTrace, ChildrenLeaveWhatTheyDid) {
  const TemporaryFolder folder;
  trace::record("parent", folder.path().string());
  { const trace::Span span(trace::Kind::kRun, "of the parent"); }
  const pid_t child = ::fork();
  if (child == 0) {
    { const trace::Span span(trace::Kind::kCheck, "of the child"); }
    trace::leave_for_parent("child");
    ::_exit(0);
  }
  trace::child_started(child, "a check");
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  trace::child_ended(child, "ended");
  const trace::Process p = trace::take();
  ASSERT_EQ(p.children.size(), 1U);
  EXPECT_EQ(p.children[0].outcome, "ended");
  EXPECT_GT(p.children[0].end, p.children[0].start);
  const std::vector<trace::Process> left = trace::left_by_children(folder.path().string());
  ::unsetenv("ASSAY_TRACE_FOLDER");
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left[0].name, "child");
  EXPECT_EQ(left[0].id, child);
  ASSERT_EQ(left[0].threads.size(), 1U);
  ASSERT_EQ(left[0].threads[0].events.size(), 1U);
  EXPECT_EQ(left[0].threads[0].texts[left[0].threads[0].events[0].name], "of the child");
}

TEST(TimeTrace, DamagedPartsAreLeftOut) {
  const TemporaryFolder folder;
  trace::record("test");
  { const trace::Span span(trace::Kind::kRun, "run"); }
  const std::string path = folder / "part";
  trace::write_part(path, trace::take());
  ASSERT_TRUE(trace::read_part(path));
  std::ifstream file(path, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(file), {}};
  for (size_t length = 0; length < whole.size(); ++length) {
    std::ofstream(path, std::ios::binary) << whole.substr(0, length);
    EXPECT_FALSE(trace::read_part(path)) << length;
  }
  // A size beyond the file, and a place beyond the texts.
  for (size_t at = 0; at + 8 <= whole.size(); at += 8) {
    std::string changed = whole;
    changed.replace(at, 8, 8, '\x7f');
    std::ofstream(path, std::ios::binary) << changed;
    if (const auto part = trace::read_part(path))
      for (const trace::Thread& t : part->threads)
        for (const trace::Event& e : t.events) {
          EXPECT_LT(e.name, t.texts.size());
          EXPECT_LT(e.detail, t.texts.size());
        }
  }
}

}  // namespace
}  // namespace assay::time_trace_test
