#include "base/crash_report.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <new>
#include <stdexcept>

#include "assay/error.h"
#include "base/mapped_file.h"

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

TEST(CrashReport, WhoeverCallsExitIsNamedAndDoesNotSucceed) {
  const auto end = [](int status, bool has_note) {
    report_crashes();
    if (!has_note) std::exit(status);
    const CrashNote note("A library, while it ran a.onnx,", "");
    std::exit(status);
  };
  constexpr const char* kSentence =
      "^\\[!\\] A library, while it ran a.onnx, ended the program by exit\\(\\). It must return, or report "
      "an error.\n$";
  EXPECT_EXIT(end(0, true), testing::ExitedWithCode(1), kSentence);
  EXPECT_EXIT(end(3, true), testing::ExitedWithCode(3), kSentence);
  EXPECT_EXIT(end(0, false), testing::ExitedWithCode(0), "^$");
}

template <typename T>
[[noreturn]] void raise_exception(const T& failure) {
  throw failure;
}

TEST(CrashReport, WhatNobodyCanHandleEndsWithASentence) {
  const auto end = [](auto failure, bool has_note) {
    report_crashes();
    report_lost_exceptions();
    const auto must_not_throw = [&]() noexcept { raise_exception(failure); };
    if (!has_note) must_not_throw();
    const CrashNote note("A library, while it ran a.onnx,", "It may be too old.");
    must_not_throw();
  };
  EXPECT_EXIT(end(std::bad_alloc(), false), testing::ExitedWithCode(1), "^\\[!\\] Out of memory: [^\n]*\n$");
  EXPECT_EXIT(end(std::bad_alloc(), true), testing::ExitedWithCode(1), "^\\[!\\] Out of memory: [^\n]*\n$");
  EXPECT_EXIT(end(Error(ErrorCode::kIo, "the file is gone"), false), testing::ExitedWithCode(1),
              "^\\[!\\] the file is gone\n$");
  EXPECT_EXIT(end(std::runtime_error("odd"), false), testing::ExitedWithCode(1),
              "^\\[!\\] Internal error: odd\n$");
  EXPECT_EXIT(end(std::runtime_error("odd"), true), testing::KilledBySignal(SIGABRT),
              "A library, while it ran a.onnx, crashed \\(abort\\). It may be too old.\n$");
}

TEST(CrashReport, ABusErrorElsewhereIsReportedAfterAFileWasMapped) {
  const std::string path = testing::TempDir() + "crash_report_mapped";
  std::ofstream(path) << "some bytes";
  const auto crash = [&](bool report_first) {
    if (report_first) report_crashes();
    const auto file = MappedFile::open(path);
    if (!report_first) report_crashes();
    const auto another = MappedFile::open(path);
    const CrashNote note("The work", "Nothing helps.");
    std::raise(SIGBUS);
  };
  for (const bool first : {true, false})
    EXPECT_EXIT(crash(first), testing::KilledBySignal(SIGBUS),
                "^\\[!\\] The work crashed \\(bus error\\). Nothing helps.\n$");
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
