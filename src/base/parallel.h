// Fork-join over a range. One pool for the whole process (OpenMP's, which oneDNN shares), so kernels of
// different origin never compete for the cores.
#pragma once

#include <cstdint>

namespace assay {

/// Threads that parallel_for uses; by default the CPUs this process may run on.
int thread_count();
void set_thread_count(int n);

/// Starts the program anew with a bound on how long OpenMP's threads spin while they wait for one another, unless the
/// environment says something about it (GOMP_SPINCOUNT, OMP_WAIT_POLICY). The runtime reads it before main(), so call
/// this first; it returns where it has nothing to do or cannot. By default a thread spins for milliseconds at each
/// parallel loop; where other processes want the cores, too, that is most of the time until the thread it waits for
/// gets one: a run that takes 0.1 s of processor time took 6 s. On a machine that is busy now the bound is tighter.
void bound_spinning(char** argv);

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
