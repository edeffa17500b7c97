#include "base/crash_report.h"

#include <gtest/gtest.h>

#include <csignal>

namespace assay::crash_report_test {
namespace {

void crash_with_notes() {
  report_crashes();
  const CrashNote outer("The outer work", "Nothing helps.");
  { const CrashNote done("What is over", ""); }
  const CrashNote inner("A library, while it ran a.onnx,", "Run it node by node.");
  std::raise(SIGFPE);
}

TEST(CrashReport, SaysWhatWasDoneAndEndsByTheSignal) {
  EXPECT_EXIT(
      crash_with_notes(), testing::KilledBySignal(SIGFPE),
      "^\\[!\\] A library, while it ran a.onnx, crashed \\(arithmetic exception\\). Run it node by node.\n$");
}

TEST(CrashReport, TheOuterNoteCountsAgain) {
  const auto crash = [] {
    report_crashes();
    const CrashNote outer("The outer work", "Nothing helps.");
    { const CrashNote inner("The inner work", ""); }
    std::raise(SIGSEGV);
  };
  EXPECT_EXIT(crash(), testing::KilledBySignal(SIGSEGV),
              "^\\[!\\] The outer work crashed \\(segmentation fault\\). Nothing helps.\n$");
}

TEST(CrashReport, WithoutANoteNothingIsSaid) {
  const auto crash = [] {
    report_crashes();
    std::raise(SIGILL);
  };
  EXPECT_EXIT(crash(), testing::KilledBySignal(SIGILL), "^$");
}

}  // namespace
}  // namespace assay::crash_report_test
