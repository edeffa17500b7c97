// Running workers in time: warm-up, how often, how long, whose turn it is.
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
  int64_t iterations = 10;             ///< runs of each worker that count, at least
  double idle = 0, sleep = 0;  ///< seconds of sleep behind and before each run, not counted as its time
  /// Told now and then how much of the measuring is done, from 0 to 1; null: nobody.
  std::function<void(double)> on_progress = {};
};

/// One of those that are compared: workers that run at the same time, each in a thread of its own.
struct Lane {
  std::vector<std::unique_ptr<Worker>> workers;

  // What measure() finds out.
  std::vector<RunTimes> runs;  ///< without warm-up, by their start
  double busy = 0;             ///< seconds in which runs were carried out, pauses between turns left out
  size_t warm_up_runs = 0;
  double warm_up = 0;  ///< seconds

  double throughput() const { return busy > 0 ? static_cast<double>(runs.size()) / busy : 0; }
};

/// Measures a lane without interruption, several in turns: blocks of runs, each behind a pause, in which the
/// threads of the one before go to sleep, and some runs that do not count. Throws what a worker throws.
void measure(std::span<Lane> lanes, const MeasureOptions& options);

}  // namespace assay::bench
