// An engine that runs for long: memory stays where it was, a run of nothing takes next to no time, and one
// that is warm neither allocates nor locks.
//
// usage: soak [RUNS [SHAPES]]      default: 100000 runs, 10000 different shapes
#include <dlfcn.h>
#include <fmt/core.h>
#include <malloc.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fstream>

#include "assay/builder.h"
#include "engine/objects/state.h"
#include "engine/specialize/specializer.h"
#include "graph/import.h"
#include "ops/infer.h"

namespace {

/// Of all threads, since the program began.
std::atomic<int64_t> allocations = 0, locks = 0;

}  // namespace

// Sanitizers have functions of their own in these places; there nothing is counted.
#ifndef __SANITIZE_ADDRESS__
extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);

void* malloc(size_t bytes) {
  ++allocations;
  return __libc_malloc(bytes);
}
void* calloc(size_t count, size_t bytes) {
  ++allocations;
  return __libc_calloc(count, bytes);
}
void* realloc(void* old, size_t bytes) {
  ++allocations;
  return __libc_realloc(old, bytes);
}
void* aligned_alloc(size_t alignment, size_t bytes) {
  ++allocations;
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void** out, size_t alignment, size_t bytes) {
  ++allocations;
  *out = __libc_memalign(alignment, bytes);
  return *out != nullptr ? 0 : ENOMEM;
}
int pthread_mutex_lock(pthread_mutex_t* mutex) {
  static const auto real =
      reinterpret_cast<int (*)(pthread_mutex_t*)>(::dlsym(RTLD_NEXT, "pthread_mutex_lock"));
  ++locks;
  return real(mutex);
}
}
#endif

namespace assay {
namespace {

using Clock = std::chrono::steady_clock;

/// Resident memory of this process. Bytes.
size_t resident() {
  std::ifstream file("/proc/self/statm");
  size_t pages = 0, in_memory = 0;
  file >> pages >> in_memory;
  return in_memory * 4096;
}

std::shared_ptr<Model> parse(const std::string& graph) {
  auto model = parse_text("<ir_version: 8, opset_import: [\"\" : 17]>\n" + graph, "soak");
  infer_shapes(*model);
  return model;
}

int failures = 0;

void expect(bool condition, const std::string& what) {
  fmt::print("{} {}\n", condition ? "ok    " : "FAILED", what);
  failures += condition ? 0 : 1;
}

void empty_runs(const Runtime& runtime) {
  const auto engine =
      Builder(runtime).build_engine(parse("g (float[4] x) => (float[4] y) { y = Identity (x) }"));
  const auto context = engine->create_execution_context();
  alignas(64) float x[4] = {1, 2, 3, 4}, y[4];
  context->set_tensor_address("x", x, sizeof x);
  context->set_tensor_address("y", y, sizeof y);
  context->execute();
  double best = 1e9;
  for (int round = 0; round < 200; ++round) {
    const auto start = Clock::now();
    for (int i = 0; i < 100; ++i) context->execute();
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count() / 100);
  }
  expect(best < 3e-6, fmt::format("a run of Identity on 4 floats takes {:.3f} us", best * 1e6));
}

void many_runs(const Runtime& runtime, int runs) {
  const auto engine = Builder(runtime).build_engine(
      parse("g (float[1,8,16,16] x) => (float[1,8,16,16] y) <float[8,8,1,1] w = "
            "{1,0,0,0,0,0,0,0,0,1,0,0,0,0,0,0,0,0,1,0,0,0,0,0,0,0,0,1,0,0,0,0,"
            "0,0,0,0,1,0,0,0,0,0,0,0,0,1,0,0,0,0,0,0,0,0,1,0,0,0,0,0,0,0,0,1}> { a = Conv (x, w) b = Relu "
            "(a) c = Softmax <axis = 3> (b) y = Add (c, x) }"));
  const auto context = engine->create_execution_context();
  const std::vector<Tensor> inputs = {Tensor::zeros(DType::kFloat32, {1, 8, 16, 16})};
  for (int i = 0; i < 1000; ++i) context->infer(inputs);
  const size_t before = resident();
  for (int i = 0; i < runs; ++i) context->infer(inputs);
  const auto growth = static_cast<double>(resident()) - static_cast<double>(before);
  expect(growth < 4e6, fmt::format("{} runs grow memory by {:.2f} MB", runs, growth / 1e6));
}

/// A context that ran before, on bound memory. oneDNN allocates and locks whenever it carries out a primitive
/// (2.7: about ten times), so this network does without it.
void warm_runs(const Runtime& runtime) {
  const auto engine = Builder(runtime).build_engine(
      parse("g (float[1,8,16,16] x) => (float[1,8,16,16] y) { a = Sigmoid (x) c = Softmax <axis = 3> (a) "
            "d = Transpose <perm = [0, 1, 3, 2]> (c) e = Concat <axis = 1> (c, d) f, g = Split <axis = 1> "
            "(e) m = ReduceMax <axes = [3]> (f) "
            "s = Sub (g, m) y = Mul (s, x) }"),
      {.disabled_tactics = {"evaluate"}});
  const auto context = engine->create_execution_context();
  const Tensor x = Tensor::zeros(DType::kFloat32, {1, 8, 16, 16});
  Tensor y = Tensor::zeros(DType::kFloat32, {1, 8, 16, 16});
  context->set_input_address("x", x.data(), x.nbytes());
  context->set_tensor_address("y", y.mutable_data(), y.nbytes());
  for (int i = 0; i < 100; ++i) context->execute();
  const int64_t allocated = allocations, locked = locks;
  for (int i = 0; i < 1000; ++i) context->execute();
  const int64_t more_allocations = allocations - allocated, more_locks = locks - locked;
  expect(more_allocations == 0,
         fmt::format("1000 runs of a warm context allocate {} times", more_allocations));
  expect(more_locks == 0, fmt::format("1000 runs of a warm context lock {} times", more_locks));
}

/// Loops: what a run allocates does not grow with the number of iterations.
void warm_loops(const Runtime& runtime) {
  const auto loop = Builder(runtime).build_engine(parse(
      "g (int64 n, float[1,16] x) => (float[1,16] y, float[t,1,16] ys, float[t,3] zs) { y, ys, zs = Loop "
      "(n, , x) <body = b (int64 i, bool go, float[1,16] v) => (bool go_on, float[1,16] next, "
      "float[1,16] s, float[3] z) { go_on = Identity (go) a = Sigmoid (v) next = Sub (a, x) s = Neg "
      "(next) l = Constant <value_ints = [1]> () e = Constant <value_ints = [4]> () r = Reshape (s, "
      "one) one = Constant <value_ints = [16]> () z = Slice (r, l, e) }> }"));
  const auto context = loop->create_execution_context();
  const auto count = [&](int64_t trips) {
    const std::vector<Tensor> inputs = {Tensor::scalar(trips), Tensor::zeros(DType::kFloat32, {1, 16})};
    for (int i = 0; i < 10; ++i) context->infer(inputs);
    const int64_t allocated = allocations, locked = locks;
    context->infer(inputs);
    return std::pair(allocations - allocated, locks - locked);
  };
  const auto [few, few_locks] = count(100);
  const auto [many, many_locks] = count(1000);
  expect(few == many, fmt::format("100 iterations of a loop allocate {} times, 1000 of them {}", few, many));
  expect(few_locks == many_locks,
         fmt::format("100 iterations lock {} times, 1000 of them {}", few_locks, many_locks));
}

void many_shapes(const Runtime& runtime, int shapes) {
  constexpr size_t kMaxPlans = engine::PlanCache<std::shared_ptr<const engine::ReadyPlan>>::kMaxPlans;
  BuilderConfig config{.optimization_level = 0};
  OptimizationProfile profile;
  profile.set_shape("x", {1, 3}, {8, 3}, {1 << 20, 3});
  config.profiles = {profile};
  const auto engine =
      Builder(runtime).build_engine(parse("g (float[N,3] x) => (float[N,2] y) <float[3,2] w = {1, 2, 3, 4, "
                                          "5, 6}> { a = MatMul (x, w) y = Relu (a) }"),
                                    config);
  const auto context = engine->create_execution_context();
  const auto run = [&](int rows) {
    return context->infer(std::vector<Tensor>{Tensor::zeros(DType::kFloat32, {rows, 3})})[0].dim(0) == rows;
  };
  bool right = true;
  for (int i = 1; i <= std::max<int>(shapes / 10, kMaxPlans); ++i) right = run(i) && right;
  ::malloc_trim(0);
  const size_t before = resident();
  for (int i = 1; i <= shapes; ++i) right = run(i) && right;
  ::malloc_trim(0);
  const auto growth = static_cast<double>(resident()) - static_cast<double>(before);
  expect(right, "every shape gives its rows");
  expect(growth < 16e6, fmt::format("{} shapes grow memory by {:.2f} MB", shapes, growth / 1e6));
  expect(engine->state().plans->plan_count() <= kMaxPlans,
         fmt::format("{} plans are kept, of {} at most", engine->state().plans->plan_count(), kMaxPlans));
}

}  // namespace
}  // namespace assay

int main(int argc, char** argv) {
  using namespace assay;
  const int runs = argc > 1 ? std::atoi(argv[1]) : 100'000, shapes = argc > 2 ? std::atoi(argv[2]) : 10'000;
  const Runtime runtime({.threads = 2});
  empty_runs(runtime);
  many_runs(runtime, runs);
  warm_runs(runtime);
  warm_loops(runtime);
  many_shapes(runtime, shapes);
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
