#include "base/log.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "assay/log.h"
#include "base/log_format.h"
#include "base/temporary_folder.h"

namespace assay::log_test {
namespace {

using log::Capture;
using log::Config;
using log::Severity;

std::string everything(Severity threshold) {
  const Capture capture(Config{.threshold = threshold});
  log::ultra_verbose("1");
  log::super_verbose("2");
  log::extra_verbose("3");
  log::verbose("4");
  log::info("5");
  log::start("6");
  log::finish("7");
  log::warning("8");
  log::error("9");
  log::report_critical("10");
  return capture.out() + capture.err();
}

TEST(Log, EachSeverityHasItsLetterAndThreshold) {
  EXPECT_EQ(everything(Severity::kUltraVerbose),
            "[U] 1\n[S] 2\n[X] 3\n[V] 4\n[I] 5\n[I] 6\n[I] 7\n[W] 8\n[E] 9\n[!] 10\n");
  EXPECT_EQ(everything(Severity::kInfo), "[I] 5\n[I] 6\n[I] 7\n[W] 8\n[E] 9\n[!] 10\n");
  EXPECT_EQ(everything(Severity::kStart), "[I] 6\n[I] 7\n[W] 8\n[E] 9\n[!] 10\n");
  EXPECT_EQ(everything(Severity::kFinish), "[I] 7\n[W] 8\n[E] 9\n[!] 10\n");
  EXPECT_EQ(everything(Severity::kCritical), "[!] 10\n");
}

TEST(Log, OnlyCriticalGoesToStderr) {
  const Capture capture;
  log::error("out");
  EXPECT_THROW(log::critical(ErrorCode::kNotFound, "no {}", "file"), log::LoggedError);
  EXPECT_EQ(capture.out(), "[E] out\n");
  EXPECT_EQ(capture.err(), "[!] no file\n");
}

TEST(Log, CriticalThrowsItsTextEvenWhenSilent) {
  const Capture capture(Config{.threshold = Severity::kCritical});
  try {
    log::critical(ErrorCode::kNotFound, "no {}", "file");
  } catch (const Error& e) {
    EXPECT_EQ(e.message(), "no file");
    EXPECT_EQ(e.code(), ErrorCode::kNotFound);
  }
}

TEST(Log, IndentsAfterThePrefixAndOnContinuationLines) {
  const Capture capture;
  log::info("a\nb");
  {
    const log::Indent indent;
    log::info("c\n  d\n\ne\n");
    const log::Indent two_more(2);
    log::info("f");
    log::info("");
  }
  log::info("");
  EXPECT_EQ(capture.out(),
            "[I] a\n    b\n[I]     c\n          d\n        \n        e\n[I]             f\n[I]             "
            "\n[I] \n");
}

TEST(Log, EndsLinesWherePythonDoes) {
  const Capture capture;
  log::info(
      "a\r\nb\rc\vd\fe\x1c"
      "f\xc2\x85g\xe2\x80\xa8h\n\n");
  EXPECT_EQ(capture.out(), "[I] a\n    b\n    c\n    d\n    e\n    f\n    g\n    h\n    \n");
}

TEST(Log, ShowsControlCharactersInsteadOfSendingThem) {
  const Capture capture;
  log::info("name\x1b[2J\a\t\x7f");
  EXPECT_EQ(capture.out(), "[I] name\\x1b[2J\\x07\t\\x7f\n");
}

TEST(Log, OnceSuppressesTheSameTextOnly) {
  const Capture capture;
  for (int i = 0; i < 3; ++i) log::once(Severity::kWarning, "value {}", i / 2);
  log::warning("value 0");
  EXPECT_EQ(capture.out(), "[W] value 0\n[W] value 1\n[W] value 0\n");
}

TEST(Log, OnceIsNotUsedUpByAHiddenMessage) {
  const Capture capture;
  log::once(Severity::kVerbose, "text");
  log::once(Severity::kInfo, "text");
  EXPECT_EQ(capture.out(), "[I] text\n");
}

TEST(Log, CapturesNestAndRestore) {
  const Capture outer;
  const log::Indent indent;
  log::info("before");
  {
    const Capture inner(Config{.threshold = Severity::kError});
    log::info("hidden");
    log::error("inside");
    EXPECT_EQ(inner.out(), "[E] inside\n");
  }
  log::info("after");
  EXPECT_EQ(outer.out(), "[I]     before\n[I]     after\n");
}

TEST(Log, LineInfoNamesFileBelowSrc) {
  const Capture capture(Config{.line_info = true});
  log::info("a\nb");
  const int line = __LINE__ - 1;
  const std::string prefix = fmt::format("[I] [base/log_test.cpp:{}] ", line);
  EXPECT_EQ(capture.out(), prefix + "a\n" + std::string(prefix.size(), ' ') + "b\n");
}

TEST(Log, TimestampComesFirst) {
  const Capture capture(Config{.timestamp = true, .line_info = true});
  log::warning("x");
  ASSERT_GT(capture.out().size(), 15u);
  EXPECT_EQ(capture.out().substr(0, 5), "[W] (");
  EXPECT_EQ(capture.out().substr(6, 1).find_first_not_of("0123456789"), std::string::npos);
  EXPECT_NE(capture.out().find(") [base/log_test.cpp:"), std::string::npos);
}

TEST(Log, PathThresholdsUseTheLongestMatch) {
  Config config{.threshold = Severity::kWarning};
  log::add_verbosity(config, "base:INFO");
  log::add_verbosity(config, "base/log_test.cpp:verbose");
  log::add_verbosity(config, "base/log:ERROR");
  EXPECT_EQ(log::threshold_for(config, __FILE__), Severity::kVerbose);
  std::string sibling = __FILE__;
  sibling.replace(sibling.rfind('/'), std::string::npos, "/other.cpp");
  EXPECT_EQ(log::threshold_for(config, sibling), Severity::kInfo);
  EXPECT_EQ(log::threshold_for(config, "elsewhere.cpp"), Severity::kWarning);

  const Capture capture(config);
  log::verbose("shown");
  log::extra_verbose("hidden");
  EXPECT_EQ(capture.out(), "[V] shown\n");
}

TEST(Log, PathsOfPolygraphyChooseTheSameMessages) {
  std::string root = __FILE__;
  root.resize(root.rfind("base/log_test.cpp"));
  Config config;
  log::add_verbosity(config, "backend:VERBOSE");
  log::add_verbosity(config, "comparator/data_loader.py:WARNING");
  const auto threshold = [&](const char* path) { return log::threshold_for(config, root + path); };
  EXPECT_EQ(threshold("run/runner.cpp"), Severity::kVerbose) << "backend/base/runner.py";
  EXPECT_EQ(threshold("backends/onnxrt.cpp"), Severity::kVerbose);
  EXPECT_EQ(threshold("backends/onnxrt_library.cpp"), Severity::kVerbose);
  EXPECT_EQ(threshold("run/model_loader.cpp"), Severity::kVerbose) << "backend/onnx/loader.py";
  EXPECT_EQ(threshold("run/execute_runner.cpp"), Severity::kInfo) << "comparator/comparator.py";
  EXPECT_EQ(threshold("run/data_loader.cpp"), Severity::kWarning);
  EXPECT_EQ(threshold("run/loader_cache.cpp"), Severity::kWarning);
  EXPECT_EQ(threshold("cli/cmd_run.cpp"), Severity::kInfo);
  log::add_verbosity(config, "backends/onnxrt.cpp:ERROR");
  EXPECT_EQ(threshold("backends/onnxrt.cpp"), Severity::kError) << "ours is longer";
}

TEST(Log, PathsWithoutSourcesAreKnown) {
  for (const char* path :
       {"base", "/base/", "base/log_format.cpp", "backend", "backend/onnxrt", "comparator/compare.py"})
    EXPECT_TRUE(log::is_source_path(path)) << path;
  for (const char* path : {"bas", "base/log", "nonsense", "backend/onnxrt/loader", "base/log.cpp/x"})
    EXPECT_FALSE(log::is_source_path(path)) << path;
}

TEST(Log, VerbosityValues) {
  Config config;
  log::add_verbosity(config, "super_verbose");
  EXPECT_EQ(config.threshold, Severity::kSuperVerbose);
  log::add_verbosity(config, ":ERROR");
  EXPECT_EQ(config.threshold, Severity::kError);
  EXPECT_TRUE(config.path_thresholds.empty());
  try {
    log::add_verbosity(config, "base:LOUD");
    FAIL() << "an unknown level was taken";
  } catch (const Error& e) {
    EXPECT_EQ(
        e.message(),
        "'LOUD' is not a log level; the levels are ULTRA_VERBOSE, SUPER_VERBOSE, EXTRA_VERBOSE, VERBOSE, "
        "INFO, START, "
        "FINISH, WARNING, ERROR, CRITICAL");
  }
}

TEST(Log, CountsOfVerboseAndQuiet) {
  const std::vector<std::pair<int, Severity>> expected = {
      {9, Severity::kUltraVerbose}, {4, Severity::kUltraVerbose}, {3, Severity::kSuperVerbose},
      {2, Severity::kExtraVerbose}, {1, Severity::kVerbose},      {0, Severity::kInfo},
      {-1, Severity::kStart},       {-2, Severity::kFinish},      {-3, Severity::kWarning},
      {-4, Severity::kError},       {-5, Severity::kCritical},    {-9, Severity::kCritical}};
  for (const auto& [level, severity] : expected) {
    EXPECT_EQ(log::severity_from_counts(level, 0), severity) << level;
    EXPECT_EQ(log::severity_from_counts(10, 10 - level), severity) << level;
  }
}

TEST(Log, ColorsWrapWholeMessages) {
  EXPECT_EQ(log::colored(Severity::kInfo, "[I] a\n"), "[I] a\n");
  EXPECT_EQ(log::colored(Severity::kError, "[E] a\n    b\n"), "\x1b[38;5;9m[E] a\n    b\x1b[0m\n");
  EXPECT_EQ(log::colored(Severity::kFinish, "[I] a\n"), "\x1b[38;5;10m[I] a\x1b[0m\n");
}

TEST(Log, ThreadsDoNotTearMessages) {
  const Capture capture;
  const auto chatter = [] {
    const log::Indent indent;
    for (int i = 0; i < 200; ++i) log::info("first\nsecond");
  };
  std::thread other(chatter);
  chatter();
  other.join();
  const std::string message = "[I]     first\n        second\n";
  std::string expected;
  for (int i = 0; i < 400; ++i) expected += message;
  EXPECT_EQ(capture.out(), expected);
}

TEST(LogSink, GetsMessagesInThePlaceOfStandardOutput) {
  std::vector<std::pair<int, std::string>> got;
  set_log_sink([&](int severity, const std::string& text) { got.emplace_back(severity, text); }, 20);
  log::verbose("below the threshold");
  {
    const log::Indent indent;
    log::warning("first\nsecond\x1b");
  }
  log::report_critical("third");
  log::print("a page");
  {
    const log::Capture capture;  // a capture takes them from it
    log::info("captured");
  }
  set_log_sink(nullptr);
  const std::vector<std::pair<int, std::string>> expected = {
      {30, "    first\n    second\\x1b"}, {50, "third"}, {20, "a page"}};
  EXPECT_EQ(got, expected);
}

TEST(LogSink, MayLogItself) {
  std::atomic<int> calls = 0;
  set_log_sink([&](int, const std::string&) {
    if (++calls < 3) log::info("again");
  });
  log::info("once");
  set_log_sink(nullptr);
  EXPECT_EQ(calls, 3);
}

class LogFile : public testing::Test {
 protected:
  ~LogFile() override { log::configure({}); }
  const TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path().string();
};

TEST_F(LogFile, ReceivesShownLinesAtOnceAndIsTruncated) {
  const std::string path = folder_ + "/new/folder/run.log";
  for (int run = 0; run < 2; ++run) {
    log::configure({.threshold = Severity::kCritical, .file = path});
    log::error("hidden");
    log::report_critical("run {}", run);
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    EXPECT_EQ(text.str(), fmt::format("[!] run {}\n", run));
  }
}

TEST_F(LogFile, SaysWhyItCannotBeWritten) {
  try {
    log::configure({.file = folder_});
    FAIL() << "a folder was opened as log file";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kIo);
    EXPECT_EQ(e.message(), "cannot write the log file " + folder_ + ": Is a directory");
  }
}

}  // namespace
}  // namespace assay::log_test
