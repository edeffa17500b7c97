// Measures an empty loop of two parts: fork and join.
#include <benchmark/benchmark.h>

#include "base/thread_pool.h"

namespace assay {
namespace {

void fork_and_join(benchmark::State& state) {
  ThreadPool pool(static_cast<int>(state.range(0)));
  const auto nothing = [](int64_t) {};
  for (auto _ : state) pool.run(state.range(0), nothing);
}
BENCHMARK(fork_and_join)->Arg(1)->Arg(2);

}  // namespace
}  // namespace assay
