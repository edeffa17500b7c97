#include "base/parallel.h"

#include <omp.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <mutex>

namespace assay {
namespace {

int available_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return std::max(1, CPU_COUNT(&set));
}

/// In the last minute there was work for most CPUs.
bool is_machine_busy() {
  double load = 0;
  if (::getloadavg(&load, 1) != 1) return false;
  return load > 0.75 * static_cast<double>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
}

int& threads() {
  static int n = available_cpus();
  return n;
}

}  // namespace

int thread_count() { return threads(); }

void set_thread_count(int n) {
  threads() = std::max(1, n);
  omp_set_num_threads(threads());
}

void bound_spinning(char** argv) {
  if (available_cpus() == 1 || std::getenv("GOMP_SPINCOUNT") != nullptr ||
      std::getenv("OMP_WAIT_POLICY") != nullptr)
    return;
  // Tens of microseconds, or some hundreds: to wake a thread that sleeps costs a small model more than to run it.
  const char* bound = is_machine_busy() ? "1000" : "20000";
  if (::setenv("GOMP_SPINCOUNT", bound, 0) == 0) ::execv("/proc/self/exe", argv);
}

void internal::run_parallel(int64_t count, int64_t grain, RangeBody body) {
  if (count <= 0) return;
  const int64_t wanted = std::min<int64_t>(
      thread_count(), (count + std::max<int64_t>(grain, 1) - 1) / std::max<int64_t>(grain, 1));
  if (wanted <= 1 || omp_in_parallel()) {
    body(0, count);
    return;
  }
  std::exception_ptr failure;
  std::mutex mutex;
#pragma omp parallel num_threads(static_cast <int>(wanted))
  {
    const int64_t n = omp_get_num_threads();
    const int64_t i = omp_get_thread_num();
    try {
      const int64_t first = count * i / n, last = count * (i + 1) / n;
      if (first < last) body(first, last);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace assay
