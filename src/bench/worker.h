// What is measured: one thread's way to run a model on given inputs again and again.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "assay/backend.h"
#include "assay/runtime.h"

namespace assay::bench {

/// Seconds of a clock that only goes forward.
double now();

/// When a run was asked for, when the call that asks returned, when the computing began and ended, and when
/// the results were there. Seconds as now().
struct RunTimes {
  double start = 0, enqueued = 0, compute_start = 0, compute_end = 0, end = 0;
};

/// Runs a model on the inputs that it was made for. One run at a time.
class Worker {
 public:
  virtual ~Worker() = default;
  /// Throws Error as the backend does.
  virtual RunTimes run() = 0;
  /// What the last run computed, in the order of the model's outputs.
  virtual TensorList outputs() const = 0;
};

/// A worker with a context of its own, whose inputs and outputs are bound to memory where their types allow
/// it. It has run once, so that everything is ready. With `is_recorded` the run is recorded and then repeated
/// by a stream (as a CUDA graph is). `profiler`, if any, must outlive it.
std::unique_ptr<Worker> make_worker(const std::shared_ptr<Engine>& engine, size_t profile,
                                    std::span<const Tensor> feed, bool is_recorded,
                                    Profiler* profiler = nullptr);

/// A worker on a backend's session, which must outlive it; it has run once.
std::unique_ptr<Worker> make_worker(Session& session, std::span<const Tensor> feed);

}  // namespace assay::bench
