#include "bench/measure.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include "assay/error.h"

namespace assay::bench::measure_test {
namespace {

/// Records the order of runs; a run takes a given time.
class FakeWorker final : public Worker {
 public:
  FakeWorker(std::string name, std::vector<std::string>& order, int fails_at, std::chrono::milliseconds takes)
      : name_(std::move(name)), order_(order), fails_at_(fails_at), takes_(takes) {}
  RunTimes run() override {
    static std::mutex mutex;
    {
      const std::lock_guard lock(mutex);
      order_.push_back(name_);
    }
    if (count_++ == fails_at_) fail(ErrorCode::kInvalidModel, "worker {} fails", name_);
    RunTimes t;
    t.start = t.compute_start = now();
    std::this_thread::sleep_for(takes_);
    t.end = t.compute_end = t.enqueued = now();
    return t;
  }
  TensorList outputs() const override { return {}; }

 private:
  std::string name_;
  std::vector<std::string>& order_;
  int fails_at_, count_ = 0;
  std::chrono::milliseconds takes_;
};

std::vector<Lane> make_lanes(std::vector<std::string>& order,
                             const std::vector<std::vector<std::string>>& names, int fails_at = -1,
                             std::chrono::milliseconds takes = std::chrono::milliseconds(1)) {
  std::vector<Lane> lanes;
  for (const auto& workers : names) {
    lanes.emplace_back();
    for (const std::string& name : workers)
      lanes.back().workers.push_back(std::make_unique<FakeWorker>(name, order, fails_at, takes));
  }
  return lanes;
}

TEST(Measure, IterationsAndDurationAreBothLeast) {
  std::vector<std::string> order;
  auto lanes = make_lanes(order, {{"a"}});
  measure(lanes, {.warm_up = 0, .duration = 0, .iterations = 7});
  EXPECT_EQ(lanes[0].runs.size(), 7U);
  EXPECT_EQ(order.size(), 7U) << "no warm-up";
  lanes = make_lanes(order, {{"a"}});
  const double begin = now();
  measure(lanes, {.warm_up = 0, .duration = 0.05, .iterations = 1});
  EXPECT_GE(now() - begin, 0.05);
  EXPECT_GT(lanes[0].runs.size(), 1U);
  EXPECT_NEAR(lanes[0].throughput(), static_cast<double>(lanes[0].runs.size()) / lanes[0].busy, 1e-6);
}

TEST(Measure, WarmUpDoesNotCount) {
  std::vector<std::string> order;
  auto lanes = make_lanes(order, {{"a"}});
  measure(lanes, {.warm_up = 0.02, .duration = 0, .iterations = 3});
  EXPECT_EQ(lanes[0].runs.size(), 3U);
  EXPECT_GT(lanes[0].warm_up_runs, 1U);
  EXPECT_EQ(order.size(), 3 + lanes[0].warm_up_runs);
  EXPECT_GE(lanes[0].warm_up, 0.02);
}

TEST(Measure, LanesTakeTurnsThatRunInUncounted) {
  std::vector<std::string> order;
  auto lanes = make_lanes(order, {{"a"}, {"b"}});
  measure(lanes, {.warm_up = 0, .duration = 0.12, .iterations = 15});
  std::vector<size_t> blocks;
  for (size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || order[i] != order[i - 1]) blocks.push_back(0);
    ++blocks.back();
  }
  ASSERT_GE(blocks.size(), 4U) << "one turn of 50 ms is not enough for 120";
  EXPECT_EQ(blocks.size() % 2, 0U);
  for (size_t i = 0; i < lanes.size(); ++i) {
    const Lane& lane = lanes[i];
    size_t all = 0;
    for (size_t b = i; b < blocks.size(); b += lanes.size()) all += blocks[b];
    EXPECT_GE(lane.runs.size(), 15U);
    EXPECT_GE(lane.busy, 0.12);
    EXPECT_GE(all, lane.runs.size() + blocks.size() / lanes.size())
        << "at least one run of each turn does not count";
    EXPECT_LT(lane.busy, lane.runs.back().end - lane.runs.front().start - 0.03) << "pauses are left out";
  }
}

/// Leaves a thread that spins for longer than the minimum pause, as runtimes do.
class SpinningWorker final : public Worker {
 public:
  explicit SpinningWorker(std::atomic<int>& spinning) : spinning_(spinning) {}
  ~SpinningWorker() override {
    for (std::thread& t : threads_) t.join();
  }
  RunTimes run() override {
    RunTimes t;
    t.start = t.compute_start = now();
    ++spinning_;
    threads_.emplace_back([this] {
      for (const double end = now() + 0.1; now() < end;) {
      }
      --spinning_;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    t.end = t.compute_end = t.enqueued = now();
    return t;
  }
  TensorList outputs() const override { return {}; }

 private:
  std::atomic<int>& spinning_;
  std::vector<std::thread> threads_;
};

class WatchingWorker final : public Worker {
 public:
  explicit WatchingWorker(const std::atomic<int>& spinning) : spinning_(spinning) {}
  RunTimes run() override {
    disturbed += spinning_ > 0;
    RunTimes t;
    t.start = t.compute_start = now();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    t.end = t.compute_end = t.enqueued = now();
    return t;
  }
  TensorList outputs() const override { return {}; }
  int disturbed = 0;

 private:
  const std::atomic<int>& spinning_;
};

TEST(Measure, ATurnWaitsUntilTheThreadsOfTheOneBeforeAreIdle) {
  std::atomic<int> spinning = 0;
  std::vector<Lane> lanes(2);
  lanes[0].workers.push_back(std::make_unique<SpinningWorker>(spinning));
  auto watching = std::make_unique<WatchingWorker>(spinning);
  const WatchingWorker& watcher = *watching;
  lanes[1].workers.push_back(std::move(watching));
  measure(lanes, {.warm_up = 0.05, .duration = 0.3, .iterations = 3});
  EXPECT_EQ(watcher.disturbed, 0);
}

TEST(Measure, ALongRunTakesATurnOfThree) {
  std::vector<std::string> order;
  auto lanes = make_lanes(order, {{"slow"}, {"slow too"}}, /*fails_at=*/-1, std::chrono::milliseconds(60));
  measure(lanes, {.warm_up = 0, .duration = 0, .iterations = 1});
  for (const Lane& lane : lanes) EXPECT_EQ(lane.runs.size(), 3U);
  EXPECT_EQ(order.size(), 2U * (1 + 3)) << "one run to run in, three that count";
}

TEST(Measure, StreamsRunAtOnceAndTheirTimesAreInOrder) {
  std::vector<std::string> order;
  auto lanes = make_lanes(order, {{"a", "b", "c"}});
  measure(lanes, {.warm_up = 0, .duration = 0, .iterations = 5});
  ASSERT_EQ(lanes[0].runs.size(), 15U);
  for (size_t i = 1; i < lanes[0].runs.size(); ++i)
    EXPECT_LE(lanes[0].runs[i - 1].start, lanes[0].runs[i].start);
}

TEST(Measure, WhatAWorkerThrowsArrives) {
  for (const auto& workers : {std::vector<std::string>{"a"}, std::vector<std::string>{"a", "b"}}) {
    std::vector<std::string> order;
    auto lanes = make_lanes(order, {workers}, 2);
    try {
      measure(lanes, {.warm_up = 0, .duration = 0, .iterations = 5});
      ADD_FAILURE() << "nothing was thrown";
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find(" fails"), std::string::npos);
    }
  }
}

TEST(Measure, ProgressIsToldNowAndThen) {
  std::vector<std::string> order;
  std::vector<double> parts;
  auto lanes = make_lanes(order, {{"a"}});
  measure(lanes, {.warm_up = 0, .duration = 0.5, .iterations = 1, .on_progress = [&](double p) {
                    parts.push_back(p);
                  }});
  ASSERT_GE(parts.size(), 1U);
  EXPECT_LE(parts.size(), 3U);
  for (const double p : parts) EXPECT_TRUE(p > 0 && p <= 1) << p;
}

}  // namespace
}  // namespace assay::bench::measure_test
