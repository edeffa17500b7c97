#include "console/terminal.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>

#include "assay/log.h"
#include "base/isolated_jobs.h"
#include "base/log.h"

namespace assay::terminal_test {
namespace {

struct Written {
  std::string out, err;
};

/// Output of a child process on its standard streams.
template <typename Body>
Written written_by(Body&& body) {
  std::array<int, 2> out{}, err{};
  EXPECT_EQ(::pipe(out.data()), 0);
  EXPECT_EQ(::pipe(err.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(out[1], STDOUT_FILENO);
    ::dup2(err[1], STDERR_FILENO);
    body();
    log::flush();
    ::_exit(0);
  }
  ::close(out[1]);
  ::close(err[1]);
  const auto read_all = [](int fd) {
    std::string text;
    std::array<char, 4096> buffer{};
    for (ssize_t n; (n = ::read(fd, buffer.data(), buffer.size())) > 0;)
      text.append(buffer.data(), static_cast<size_t>(n));
    ::close(fd);
    return text;
  };
  Written written{read_all(out[0]), read_all(err[0])};
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  return written;
}

TEST(Terminal, WithoutItNothingIsWritten) {
  const Written w = written_by([] {
    EXPECT_FALSE(diag::enabled(diag::Severity::kCritical));
    diag::warning("a warning");
    log::report_critical("the end");
    log::print("a page");
  });
  EXPECT_EQ(w.out, "");
  EXPECT_EQ(w.err, "");
}

TEST(Terminal, CriticalMessagesGoToStandardErrorAfterAllBefore) {
  const Written w = written_by([] {
    open_terminal_log();
    diag::warning("a warning");
    log::report_critical("the end");
    log::print("a page\n");
  });
  EXPECT_EQ(w.out, "[W] a warning\na page\n");
  EXPECT_EQ(w.err, "[!] the end\n");
}

TEST(Terminal, ShowsWhatAProgramAsksFor) {
  const Written w = written_by([] {
    show_log(static_cast<int>(diag::Severity::kWarning));
    diag::info("hidden");
    diag::warning("shown");
  });
  EXPECT_EQ(w.out, "[W] shown\n");
}

TEST(Terminal, SaysWhatStandardOutputRefused) {
  const Written w = written_by([] {
    const int full = ::open("/dev/full", O_WRONLY);
    ::dup2(full, STDOUT_FILENO);
    open_terminal_log();
    diag::info("lost");
    log::flush();
    const std::string failure = log::output_failure();
    EXPECT_EQ(::write(STDERR_FILENO, failure.data(), failure.size()), static_cast<ssize_t>(failure.size()));
  });
  EXPECT_EQ(w.err, "standard output: No space left on device");
}

TEST(Terminal, WhatChildrenInheritAppearsOnce) {
  const Written w = written_by([] {
    open_terminal_log();
    log::info("before");
    const auto work = [](size_t) {
      log::info("inside");
      return std::string();
    };
    run_isolated(1, {.workers = 1}, work, [](const IsolatedJobResult&) {});
    log::info("after");
  });
  EXPECT_EQ(w.out, "[I] before\n[I] inside\n[I] after\n");
}

}  // namespace
}  // namespace assay::terminal_test
