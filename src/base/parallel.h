// Parallel loops over a range, by the threads of this thread's pool.
#pragma once

#include <cstdint>
#include <memory>

#include "base/thread_pool.h"

namespace assay {

/// Number of threads that parallel_for uses in this thread: that of its pool (PoolScope); 1 without a pool.
int thread_count();

/// This thread's pool if it has `threads` threads or `threads` is 0 (any); otherwise a new one with that many
/// (0: available_cpus()).
std::shared_ptr<ThreadPool> pool_of(int threads);

/// A borrowed callable void(int64_t first, int64_t last); lives as long as the call.
class RangeBody {
 public:
  template <typename F>
  RangeBody(F& f)  // NOLINT: converts on purpose
      : object_(const_cast<void*>(static_cast<const void*>(&f))),
        call_([](void* o, int64_t a, int64_t b) { (*static_cast<F*>(o))(a, b); }) {}
  void operator()(int64_t first, int64_t last) const { call_(object_, first, last); }

 private:
  void* object_;
  void (*call_)(void*, int64_t, int64_t);
};

namespace internal {
void run_parallel(int64_t count, int64_t grain, RangeBody body);
}

/// Calls body(first, last) on disjoint ranges that cover [0, count), at most one per thread and each at least
/// `grain` long; runs inline when one range suffices or when already inside a parallel_for. The first
/// exception is rethrown.
template <typename F>
void parallel_for(int64_t count, int64_t grain, F&& body) {
  internal::run_parallel(count, grain, RangeBody(body));
}

}  // namespace assay
