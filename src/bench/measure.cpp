#include "bench/measure.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <string>
#include <thread>

#include "assay/interrupt.h"

namespace assay::bench {
namespace {

/// A turn of one among several lanes ends when it has both the runs and the seconds, or the minimum runs and
/// the maximum seconds. Before that it warms up for some time, at least one run, untimed: after a pause a
/// processor needs some milliseconds to reach full speed, which is many runs of a small network, and the time
/// of back-to-back runs is wanted, as when a lane runs alone.
constexpr size_t kRunsPerTurn = 10, kMinRunsPerTurn = 3;
constexpr double kSecondsPerTurn = 0.05, kMaxSecondsPerTurn = 0.15, kSecondsToRunIn = 0.01;
/// Minimum pause before each turn; it lasts until no other thread of the process is runnable, but no longer
/// than kLongestPause. Threads of the previous backend may spin for a while (ONNX Runtime's for a
/// million pause instructions, 15 to 60 ms by the processor).
constexpr auto kPause = std::chrono::milliseconds(40), kLook = std::chrono::milliseconds(2);
constexpr double kLongestPause = 0.5;
/// Between looks at whether workers are to end.
constexpr auto kWatch = std::chrono::milliseconds(20);
/// Seconds between reports.
constexpr double kReportInterval = 0.2;

void sleep_for(double seconds) {
  if (seconds > 0) std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

/// True when another thread of the process runs or waits for a processor. False if unknown.
bool others_run() {
  const std::string own = std::to_string(::gettid());
  std::error_code error;
  for (std::filesystem::directory_iterator task("/proc/self/task", error), end; !error && task != end;
       task.increment(error)) {
    if (task->path().filename() == own) continue;
    std::ifstream file(task->path() / "stat");
    std::string text(512, ' ');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));  // nothing of a thread that has ended
    text.resize(static_cast<size_t>(file.gcount()));
    // "tid (name) state ...": a name may hold anything.
    const size_t name_end = text.rfind(')');
    if (name_end != std::string::npos && text.substr(name_end).starts_with(") R")) return true;
  }
  return false;
}

void pause_until_idle() {
  const double begin = now();
  std::this_thread::sleep_for(kPause);
  while (others_run() && now() - begin < kLongestPause) std::this_thread::sleep_for(kLook);
}

/// Decides after each run whether a worker continues: it gets the number of runs in this block and the
/// seconds since its beginning.
using GoesOn = std::function<bool(size_t runs, double seconds)>;

void run_worker(Worker& worker, const MeasureOptions& options, double begin, const GoesOn& goes_on,
                std::vector<RunTimes>& runs) {
  do {
    stop_if_interrupted();
    const InterruptShield shield;
    sleep_for(options.sleep);
    runs.push_back(worker.run());
    sleep_for(options.idle);
  } while (goes_on(runs.size(), now() - begin));
}

/// Waits for the threads of workers, and tells them to end where this thread is asked to.
void join_all(std::vector<std::thread>& threads, const std::atomic<size_t>& running,
              std::atomic<bool>& ends) {
  while (has_interrupt_hook() && running.load() > 0) {
    if (is_interrupted()) ends.store(true);
    std::this_thread::sleep_for(kWatch);
  }
  for (std::thread& t : threads) t.join();
}

/// Every worker at least one run. Returns their times.
std::vector<RunTimes> run_block(Lane& lane, const MeasureOptions& options, const GoesOn& goes_on) {
  std::vector<std::vector<RunTimes>> runs(lane.workers.size());
  const double begin = now();
  if (lane.workers.size() == 1) {
    run_worker(*lane.workers[0], options, begin, goes_on, runs[0]);
    return std::move(runs[0]);
  }
  std::vector<std::exception_ptr> failures(lane.workers.size());
  std::vector<std::thread> threads;
  std::atomic<size_t> running = lane.workers.size();
  std::atomic<bool> ends = false;
  for (size_t w = 0; w < lane.workers.size(); ++w)
    threads.emplace_back([&, w] {
      try {
        const InterruptHook hook([&] { return ends.load(); });
        run_worker(*lane.workers[w], options, begin, goes_on, runs[w]);
      } catch (...) {
        failures[w] = std::current_exception();
      }
      running.fetch_sub(1);
    });
  join_all(threads, running, ends);
  for (const std::exception_ptr& f : failures)
    if (f) std::rethrow_exception(f);
  std::vector<RunTimes> all;
  for (const auto& list : runs) all.insert(all.end(), list.begin(), list.end());
  std::sort(all.begin(), all.end(), [](const RunTimes& a, const RunTimes& b) { return a.start < b.start; });
  return all;
}

void warm_up(Lane& lane, const MeasureOptions& options) {
  const double begin = now();
  if (options.warm_up > 0)
    lane.warm_up_runs =
        run_block(lane, options, [&](size_t, double seconds) { return seconds < options.warm_up; }).size();
  lane.warm_up = now() - begin;
}

void count(Lane& lane, const std::vector<RunTimes>& runs) {
  double end = 0;
  for (const RunTimes& r : runs) end = std::max(end, r.end);
  lane.busy += end - runs.front().start;
  lane.runs.insert(lane.runs.end(), runs.begin(), runs.end());
}

/// Reports at most a few times a second; from any thread.
class Reporter {
 public:
  explicit Reporter(const MeasureOptions& options) : on_progress_(options.on_progress), last_(now()) {}
  void tell(double part) {
    if (!on_progress_) return;
    const std::lock_guard lock(mutex_);
    if (now() - last_ < kReportInterval) return;
    last_ = now();
    on_progress_(std::clamp(part, 0.0, 1.0));
  }

 private:
  const std::function<void(double)>& on_progress_;
  std::mutex mutex_;
  double last_;
};

/// The completed fraction of a lane's work.
double part_done(const MeasureOptions& options, size_t runs, double seconds) {
  const double by_runs =
      options.iterations > 0 ? static_cast<double>(runs) / static_cast<double>(options.iterations) : 1;
  const double by_time = options.duration > 0 ? seconds / options.duration : 1;
  return std::min(by_runs, by_time);
}

}  // namespace

void measure(std::span<Lane> lanes, const MeasureOptions& options) {
  Reporter reporter(options);
  const auto goes_on = [&](size_t runs, double seconds) {
    reporter.tell(part_done(options, runs, seconds));
    return static_cast<int64_t>(runs) < options.iterations || seconds < options.duration;
  };
  if (lanes.size() == 1) {
    warm_up(lanes[0], options);
    count(lanes[0], run_block(lanes[0], options, goes_on));
    return;
  }
  for (Lane& lane : lanes) {
    pause_until_idle();
    warm_up(lane, options);
  }
  const auto has_all = [&](const Lane& lane) {
    const size_t runs = lane.runs.size() / lane.workers.size();
    reporter.tell(part_done(options, runs, lane.busy));
    return static_cast<int64_t>(runs) >= options.iterations && lane.busy >= options.duration;
  };
  const auto turn = [](size_t runs, double seconds) {
    return runs < kMinRunsPerTurn || seconds < kSecondsPerTurn ||
           (runs < kRunsPerTurn && seconds < kMaxSecondsPerTurn);
  };
  do {
    for (Lane& lane : lanes) {
      pause_until_idle();
      run_block(lane, options, [](size_t, double seconds) { return seconds < kSecondsToRunIn; });
      count(lane, run_block(lane, options, turn));
    }
  } while (!std::all_of(lanes.begin(), lanes.end(), has_all));
}

}  // namespace assay::bench
