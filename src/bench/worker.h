// The unit of measurement: runs a model repeatedly on given inputs in one thread.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "assay/backend.h"
#include "assay/runtime.h"

namespace assay::bench {

/// Seconds of a monotonic clock.
double now();

/// Times of enqueueing a run, of that call's return, of the beginning and end of computation, and of the
/// results. Seconds as now().
struct RunTimes {
  double start = 0, enqueued = 0, compute_start = 0, compute_end = 0, end = 0;
};

/// Runs a model on fixed inputs. One run at a time.
class Worker {
 public:
  virtual ~Worker() = default;
  /// Throws Error as the backend does.
  virtual RunTimes run() = 0;
  /// Results of the last run, in the order of the model's outputs.
  virtual TensorList outputs() const = 0;
};

/// A worker with its own context, whose inputs and outputs are bound to memory if their types allow it. It
/// has run once, so that everything is prepared. With `is_recorded` the run is recorded and then repeated by
/// a stream (like a CUDA graph). `profiler`, if any, must outlive it.
std::unique_ptr<Worker> make_worker(const std::shared_ptr<Engine>& engine, size_t profile,
                                    std::span<const Tensor> feed, bool is_recorded,
                                    Profiler* profiler = nullptr);

/// A worker on a backend's session, which must outlive it; it has run once.
std::unique_ptr<Worker> make_worker(Session& session, std::span<const Tensor> feed);

}  // namespace assay::bench
