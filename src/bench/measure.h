// Measures workers: warm-up, numbers of runs, durations, rounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bench/worker.h"

namespace assay::bench {

struct MeasureOptions {
  double warm_up = 0.2, duration = 3;  ///< seconds, at least
  int64_t iterations = 10;             ///< minimum timed runs of each worker
  double idle = 0, sleep = 0;          ///< seconds of sleep after and before each run, not part of its time
  /// Called from time to time with the completed fraction, from 0 to 1; may be null.
  std::function<void(double)> on_progress = {};
};

/// A group of concurrent workers, each in its own thread; lanes are compared.
struct Lane {
  std::vector<std::unique_ptr<Worker>> workers;

  // Results of measure().
  std::vector<RunTimes> runs;  ///< without warm-up, by their start
  double busy = 0;             ///< seconds of running, without pauses between rounds
  size_t warm_up_runs = 0;
  double warm_up = 0;  ///< seconds

  double throughput() const { return busy > 0 ? static_cast<double>(runs.size()) / busy : 0; }
};

/// Measures a single lane without interruption, several alternately: in blocks of runs, each after a pause,
/// in which the previous lane's threads go to sleep, and some untimed runs. Passes on exceptions of workers.
void measure(std::span<Lane> lanes, const MeasureOptions& options);

}  // namespace assay::bench
