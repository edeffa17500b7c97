// The engine against ONNX Runtime in one process: blocks of runs in turn, with pauses in between so that the
// idle threads of one do not take time from the other.
//
// usage: engine_bench [--threads N] [--seconds S] [--timed] [--explain] [--no-onnxrt] [--cpu-time] MODEL...
// A MODEL is a file (weights that are constant are randomised) or the name of a template. The table shows
// medians and minima in milliseconds, the ratio of the medians (above 1: the engine is faster), the times to
// create the sessions, and the largest difference relative to the largest magnitude of an output.
#include <fmt/core.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <map>
#include <thread>

#include "../common/models.h"
#include "assay/builder.h"
#include "backends/backend_list.h"

namespace assay {
namespace {

using Clock = std::chrono::steady_clock;

struct Arguments {
  int threads = 2;
  double seconds = 2;
  bool timed = false, explain = false, onnxrt = true, cpu_time = false;
  std::vector<std::string> models;
};

Arguments parse(int argc, char** argv) {
  Arguments a;
  for (int i = 1; i < argc; ++i) {
    const std::string s = argv[i];
    if (s == "--threads" && i + 1 < argc)
      a.threads = std::stoi(argv[++i]);
    else if (s == "--seconds" && i + 1 < argc)
      a.seconds = std::stod(argv[++i]);
    else if (s == "--timed")
      a.timed = true;
    else if (s == "--explain")
      a.explain = true;
    else if (s == "--no-onnxrt")
      a.onnxrt = false;
    else if (s == "--cpu-time")
      a.cpu_time = true;
    else
      a.models.push_back(s);
  }
  return a;
}

double now(bool cpu_time) {
  timespec t;
  clock_gettime(cpu_time ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

double elapsed(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Runner {
  std::unique_ptr<Session> session;
  double created = 0;
  std::vector<double> times;
  std::vector<Tensor> outputs;

  Runner(const Backend& backend, const std::shared_ptr<Model>& model, int threads) {
    const ModelSource source{model, {}};
    const auto start = Clock::now();
    session = backend.open(source, {.threads = threads});
    created = elapsed(start);
    outputs.resize(session->outputs().size());
  }
  void run(const std::vector<Tensor>& feed, bool timed, bool cpu_time) {
    const double start = now(cpu_time);
    session->run(feed, [&](size_t i, Tensor t) { outputs[i] = std::move(t); });
    if (timed) times.push_back(now(cpu_time) - start);
  }
  double median() {
    std::sort(times.begin(), times.end());
    return times.empty() ? 0 : times[times.size() / 2];
  }
};

double difference(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  double worst = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].dtype() != DType::kFloat32 || a[i].shape() != b[i].shape()) continue;
    double top = 1e-30, gap = 0;
    for (int64_t e = 0; e < a[i].numel(); ++e) {
      const double x = a[i].data<float>()[e], y = b[i].data<float>()[e];
      top = std::max(top, std::abs(y));
      gap = std::isnan(x) != std::isnan(y) ? INFINITY : std::max(gap, std::abs(x - y));
    }
    worst = std::max(worst, gap / top);
  }
  return worst;
}

/// The engine built by measurements against the one built by estimates.
double bench_timed(const std::string& name, const Arguments& a, Engine& timed,
                   const std::shared_ptr<Model>& model, const std::vector<Tensor>& feed, double build) {
  const auto context = timed.create_execution_context();
  Runner plain(*find_backend("engine"), model, a.threads);
  std::vector<double> times;
  for (int i = 0; i < 3; ++i) {
    context->infer(feed);
    plain.run(feed, false, a.cpu_time);
  }
  const auto start = Clock::now();
  while (elapsed(start) < a.seconds || times.size() < 15) {
    for (int i = 0; i < 10; ++i) plain.run(feed, true, a.cpu_time);
    for (int i = 0; i < 10; ++i) {
      const double begin = now(a.cpu_time);
      context->infer(feed);
      times.push_back(now(a.cpu_time) - begin);
    }
  }
  std::sort(times.begin(), times.end());
  const double median = times[times.size() / 2], estimated = plain.median();
  fmt::print("{:28} timed {:9.3f}  estimated {:9.3f} ms  gain {:5.2f}  built in {:6.1f} s\n",
             std::filesystem::path(name).stem().string(), 1e3 * median, 1e3 * estimated, estimated / median,
             build);
  return estimated / median;
}

double bench(const std::string& name, const Arguments& a) {
  const std::shared_ptr<Model> model = load_named_model(name);
  const std::vector<Tensor> feed = make_feed(*model);
  if (a.explain || a.timed) {
    const Runtime runtime({.threads = a.threads});
    const Builder builder(runtime);
    const auto start = Clock::now();
    auto engine = builder.build_engine(model, {.optimization_level = a.timed ? 3 : 0});
    if (a.explain) fmt::print("{}", builder.explanation());
    if (a.timed) return bench_timed(name, a, *engine, model, feed, elapsed(start));
    return 1;
  }
  std::vector<Runner> runners;
  runners.emplace_back(*find_backend("engine"), model, a.threads);
  if (a.onnxrt) runners.emplace_back(*find_backend("onnxrt"), model, a.threads);
  for (Runner& r : runners)
    for (int i = 0; i < 3; ++i) r.run(feed, false, a.cpu_time);
  const auto start = Clock::now();
  while (elapsed(start) < a.seconds || runners[0].times.size() < 15) {
    for (Runner& r : runners) {
      std::this_thread::sleep_for(std::chrono::milliseconds(40));
      r.run(feed, false, a.cpu_time);
      const auto block = Clock::now();
      for (int i = 0; i < 10 && (i < 3 || elapsed(block) < 0.15); ++i) r.run(feed, true, a.cpu_time);
    }
  }
  Runner& ours = runners[0];
  const double ours_median = ours.median();
  if (!a.onnxrt) {
    fmt::print("{:28} engine {:9.3f} ({:9.3f}) ms, created in {:7.1f} ms\n", name, 1e3 * ours_median,
               1e3 * ours.times[0], 1e3 * ours.created);
    return 1;
  }
  Runner& theirs = runners[1];
  const double theirs_median = theirs.median(), ratio = theirs_median / ours_median;
  fmt::print(
      "{:28} engine {:9.3f} ({:9.3f})  onnxrt {:9.3f} ({:9.3f})  ratio {:5.2f} ({:5.2f})  created {:7.1f} / "
      "{:7.1f}  differs {:.1e}\n",
      std::filesystem::path(name).stem().string(), 1e3 * ours_median, 1e3 * ours.times[0],
      1e3 * theirs_median, 1e3 * theirs.times[0], ratio, theirs.times[0] / ours.times[0], 1e3 * ours.created,
      1e3 * theirs.created, difference(ours.outputs, theirs.outputs));
  std::fflush(stdout);
  return ratio;
}

int run(int argc, char** argv) {
  const Arguments a = parse(argc, argv);
  double log_sum = 0;
  for (const std::string& name : a.models) {
    try {
      log_sum += std::log(bench(name, a));
    } catch (const std::exception& e) {
      fmt::print("{:28} {}\n", name, e.what());
    }
  }
  if (a.models.size() > 1)
    fmt::print("geometric mean {:.3f}\n", std::exp(log_sum / static_cast<double>(a.models.size())));
  return 0;
}

}  // namespace
}  // namespace assay

int main(int argc, char** argv) { return assay::run(argc, argv); }
