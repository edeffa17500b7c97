#include "base/thread_pool.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <numeric>
#include <stdexcept>

#include "base/cpus.h"
#include "base/parallel.h"

namespace assay::thread_pool_test {
namespace {

using Clock = std::chrono::steady_clock;

double cpu_seconds() {
  rusage use{};
  ::getrusage(RUSAGE_SELF, &use);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(use.ru_utime) + seconds(use.ru_stime);
}

TEST(ThreadPool, EveryPartRunsOnce) {
  for (const int threads : {1, 2, 3, 8, 16}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.size(), threads);
    for (const int64_t parts : {0, 1, 2, 7, 1000}) {
      std::vector<std::atomic<int>> counts(static_cast<size_t>(parts));
      const auto body = [&](int64_t i) { counts[static_cast<size_t>(i)].fetch_add(1); };
      for (int round = 0; round < 50; ++round) pool.run(parts, body);
      for (const auto& c : counts) ASSERT_EQ(c.load(), 50);
    }
  }
}

TEST(ThreadPool, MorePartsThanATicketHolds) {
  ThreadPool pool(2);
  std::atomic<int64_t> sum{0};
  const auto body = [&](int64_t i) { sum.fetch_add(i, std::memory_order_relaxed); };
  pool.run(200'000, body);
  EXPECT_EQ(sum.load(), int64_t{200'000} * 199'999 / 2);
}

TEST(ThreadPool, OtherThreadsTakePartsWhileOneIsBusy) {
  ThreadPool pool(2);
  std::atomic<bool> second{false};
  const auto body = [&](int64_t i) {
    // The first part waits for the second, which another thread must run.
    const auto end = Clock::now() + std::chrono::seconds(20);
    if (i == 1) second = true;
    while (i == 0 && !second && Clock::now() < end) std::this_thread::yield();
    EXPECT_TRUE(second);
  };
  pool.run(2, body);
}

TEST(ThreadPool, TheFirstExceptionArrivesAndThePoolStaysUsable) {
  ThreadPool pool(4);
  const auto fails = [](int64_t i) {
    if (i == 3) throw std::runtime_error("part 3");
  };
  for (int round = 0; round < 100; ++round) EXPECT_THROW(pool.run(8, fails), std::runtime_error);
  std::atomic<int> done{0};
  const auto counts = [&](int64_t) { ++done; };
  pool.run(8, counts);
  EXPECT_EQ(done, 8);
}

TEST(ThreadPool, LoopsInsideLoopsRunInline) {
  const auto pool = std::make_shared<ThreadPool>(2);
  const PoolScope scope(pool);
  std::atomic<int> done{0};
  parallel_for(4, 1, [&](int64_t first, int64_t last) {
    EXPECT_TRUE(ThreadPool::inside_loop());
    for (int64_t i = first; i < last; ++i)
      parallel_for(10, 1, [&](int64_t a, int64_t b) { done += static_cast<int>(b - a); });
  });
  EXPECT_EQ(done, 40);
  EXPECT_FALSE(ThreadPool::inside_loop());
}

TEST(ThreadPool, ManyCallersShareAPool) {
  const auto pool = std::make_shared<ThreadPool>(3);
  std::atomic<int64_t> sum{0};
  std::vector<std::thread> callers;
  for (int c = 0; c < 4; ++c)
    callers.emplace_back([&] {
      const PoolScope scope(pool);
      for (int round = 0; round < 500; ++round)
        parallel_for(64, 1, [&](int64_t first, int64_t last) { sum += last - first; });
    });
  for (std::thread& t : callers) t.join();
  EXPECT_EQ(sum, 4 * 500 * 64);
}

TEST(ThreadPool, SleepsWhenThereIsNothingToDo) {
  ThreadPool pool(2);
  const auto nothing = [](int64_t) {};
  pool.run(2, nothing);
  const double before = cpu_seconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  // 100 microseconds of spinning, plus the clock's overhead.
  EXPECT_LT(cpu_seconds() - before, 0.03);
  pool.run(2, nothing);
}

TEST(ThreadPool, WorksInTheChildOfAFork) {
  ThreadPool pool(2);
  std::atomic<int> done{0};
  const auto body = [&](int64_t) { ++done; };
  pool.run(2, body);
  const pid_t child = ::fork();
  if (child == 0) {
    pool.run(6, body);
    ::_exit(done == 8 ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  pool.run(2, body);
  EXPECT_EQ(done, 4);
}

TEST(PoolScope, DecidesWhereLoopsRun) {
  EXPECT_EQ(PoolScope::current(), nullptr);
  EXPECT_EQ(thread_count(), 1);
  const auto two = std::make_shared<ThreadPool>(2), three = std::make_shared<ThreadPool>(3);
  {
    const PoolScope outer(two);
    EXPECT_EQ(thread_count(), 2);
    EXPECT_EQ(pool_of(0), two);
    EXPECT_EQ(pool_of(2), two);
    EXPECT_EQ(pool_of(5)->size(), 5);
    {
      const PoolScope inner(three);
      EXPECT_EQ(thread_count(), 3);
    }
    EXPECT_EQ(thread_count(), 2);
    std::thread([] { EXPECT_EQ(thread_count(), 1); }).join();
  }
  EXPECT_EQ(thread_count(), 1);
}

TEST(ParallelFor, CoversTheRangeInPiecesOfAGrain) {
  const PoolScope scope(std::make_shared<ThreadPool>(4));
  for (const int64_t count : {1, 2, 5, 63, 64, 1001}) {
    for (const int64_t grain : {1, 2, 16, 5000}) {
      std::vector<std::atomic<int>> hits(static_cast<size_t>(count));
      std::atomic<int> pieces{0};
      parallel_for(count, grain, [&](int64_t first, int64_t last) {
        ++pieces;
        for (int64_t i = first; i < last; ++i) ++hits[static_cast<size_t>(i)];
      });
      for (const auto& h : hits) ASSERT_EQ(h.load(), 1);
      EXPECT_LE(pieces.load(), std::min<int64_t>(4, (count - 1) / grain + 1));
    }
  }
}

TEST(Cpus, QuotaOfAControlGroup) {
  EXPECT_EQ(cpus_of_quota("max 100000"), 0);
  EXPECT_EQ(cpus_of_quota("100000 100000"), 1);
  EXPECT_EQ(cpus_of_quota("150000 100000"), 2);
  EXPECT_EQ(cpus_of_quota("-1 100000"), 0);
  EXPECT_EQ(cpus_of_quota("5000 100000"), 1);
  EXPECT_EQ(cpus_of_quota(""), 0);
  EXPECT_EQ(cpus_of_quota(" "), 0);
  EXPECT_EQ(cpus_of_quota("100 0"), 0);
  EXPECT_GE(available_cpus(), 1);
}

}  // namespace
}  // namespace assay::thread_pool_test
