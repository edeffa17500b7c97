#include "base/isolated_jobs.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <map>
#include <stdexcept>

#include "base/memory_limit.h"

namespace assay::isolated_jobs_test {
namespace {

std::map<size_t, IsolatedJobResult> run(size_t jobs, const IsolatedJobOptions& options,
                                        const std::function<std::string(size_t)>& work) {
  std::map<size_t, IsolatedJobResult> results;
  run_isolated(jobs, options, work, [&](const IsolatedJobResult& r) {
    EXPECT_TRUE(results.emplace(r.job, r).second) << "job " << r.job << " ended twice";
  });
  EXPECT_EQ(results.size(), jobs);
  return results;
}

TEST(IsolatedJobs, EveryJobIsDoneOnce) {
  const auto results = run(100, {.workers = 3}, [](size_t i) { return std::string(i * 1000, 'x'); });
  for (const auto& [i, r] : results) {
    EXPECT_EQ(r.text.size(), i * 1000);
    EXPECT_EQ(r.death, "");
  }
}

TEST(IsolatedJobs, ADeathEndsOneJobOnly) {
  const auto results = run(6, {.workers = 2}, [](size_t i) -> std::string {
    if (i == 1) raise(SIGKILL);
    if (i == 3) _exit(7);
    if (i == 4) throw std::runtime_error("refused");
    return "done";
  });
  EXPECT_EQ(results.at(1).death, "was killed by signal 9 (Killed)");
  EXPECT_EQ(results.at(3).death, "ended with exit status 7");
  EXPECT_EQ(results.at(4).text, "error: refused");
  for (const size_t i : {0, 2, 5}) EXPECT_EQ(results.at(i).text, "done");
}

TEST(IsolatedJobs, WhatTakesTooLongIsKilled) {
  const auto start = std::chrono::steady_clock::now();
  const auto results = run(3, {.workers = 2, .timeout_seconds = 0.2}, [](size_t i) -> std::string {
    if (i == 1) sleep(60);
    return "done";
  });
  EXPECT_EQ(results.at(1).death, "took longer than 0.2 s");
  EXPECT_EQ(results.at(2).text, "done");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

TEST(IsolatedJobs, ChildrenShareTheBudget) {
  set_memory_limit(memory_in_use() + 4000);
  const auto results = run(8, {.workers = 4}, [](size_t) { return std::to_string(memory_left()); });
  set_memory_limit(0);
  for (const auto& [i, r] : results) EXPECT_EQ(r.text, "1000");
}

// A grandchild writes its process id to a pipe; it dies with its parent.
TEST(IsolatedJobs, ChildrenEndWithTheirParent) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t parent = fork();
  if (parent == 0) {
    run_isolated(
        1, {},
        [&](size_t) {
          const pid_t own = getpid();
          if (write(ends[1], &own, sizeof own) != sizeof own) _exit(1);
          sleep(60);
          return std::string();
        },
        [](const IsolatedJobResult&) {});
    _exit(0);
  }
  pid_t child = 0;
  ASSERT_EQ(read(ends[0], &child, sizeof child), static_cast<ssize_t>(sizeof child));
  kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
  close(ends[1]);
  // The last copy of the pipe's other end is the child's.
  char byte = 0;
  EXPECT_EQ(read(ends[0], &byte, 1), 0);
  close(ends[0]);
}

TEST(IsolatedJobs, AnswersOfAnySizeArriveWhole) {
  const size_t most = size_t{64} << 20;
  const auto results = run(3, {.workers = 2}, [&](size_t i) {
    return i == 1 ? std::string() : std::string(most + i, static_cast<char>('a' + i));
  });
  EXPECT_EQ(results.at(0).text, std::string(most, 'a'));
  EXPECT_EQ(results.at(1).text, "");
  EXPECT_EQ(results.at(2).text, std::string(most + 2, 'c'));
}

TEST(IsolatedJobs, AChildThatTakesOverKnowsWhatTheParentLearnt) {
  size_t seen = 0;
  std::map<size_t, std::string> texts;
  run_isolated(
      4, {.workers = 1},
      [&](size_t i) -> std::string {
        if (i == 1) raise(SIGKILL);
        return std::to_string(seen);
      },
      [&](const IsolatedJobResult& r) {
        texts[r.job] = r.death.empty() ? r.text : r.death;
        ++seen;
      });
  EXPECT_EQ(texts.at(1), "was killed by signal 9 (Killed)");
  EXPECT_EQ(texts.at(2), "2");
}

TEST(IsolatedJobs, NoJobs) {
  EXPECT_TRUE(run(0, {}, [](size_t) { return std::string(); }).empty());
}

}  // namespace
}  // namespace assay::isolated_jobs_test
