// One runner over all iterations.
#include "base/time_trace.h"
#include "run/runner.h"

namespace assay {
namespace {

std::vector<SeenTensor> seen_inputs(const std::vector<TensorInfo>& infos, std::span<const Tensor> tensors) {
  std::vector<SeenTensor> seen;
  for (size_t i = 0; i < infos.size(); ++i)
    seen.push_back({infos[i].name, tensors[i].dtype(), tensors[i].shape()});
  return seen;
}

void warm_up_runner(Runner& runner, const LoaderCache& cache, int64_t count, RunObserver& observer) {
  if (count <= 0) return;
  const bool has_data = cache.size() > 0;
  observer.on_warm_up(runner.name(), count, /*done=*/false, has_data);
  if (has_data) {
    const std::vector<Tensor> feed = cache.feed(0);
    for (int64_t i = 0; i < count; ++i) runner.infer(feed, [](size_t, Tensor) {});
  }
  observer.on_warm_up(runner.name(), count, /*done=*/true, has_data);
}

}  // namespace

double run_iteration(Runner& runner, std::span<const Tensor> feed, InferenceObserver& receiver,
                     RunObserver& observer) {
  std::vector<SeenTensor> seen;
  for (const TensorInfo& o : runner.outputs()) seen.push_back({.name = o.name, .shape = {}});
  const bool wants_values = observer.wants_values();
  std::vector<Tensor> kept(wants_values ? seen.size() : 0);
  const trace::Span span(trace::Kind::kRun, runner.name(), "all of an iteration");
  const double seconds = runner.infer(feed, [&](size_t output, Tensor tensor) {
    seen.at(output).dtype = tensor.dtype();
    seen[output].shape = tensor.shape();
    if (wants_values) kept[output] = tensor;
    receiver.on_output(output, std::move(tensor));
  });
  receiver.on_iteration_end(seconds);
  observer.on_outputs({runner.name(), seen, kept, seconds});
  return seconds;
}

void execute_runner(Runner& runner, ModelLoader& loader, LoaderCache& cache, int64_t warm_up,
                    InferenceObserver& receiver, RunObserver& observer) {
  const auto active = [&] {
    const trace::Span span(trace::Kind::kBuild, [&] { return "prepare " + runner.name(); });
    return ActiveRunner(runner, loader);
  }();
  receiver.on_active(runner.outputs());
  cache.set_inputs(runner.inputs());
  warm_up_runner(runner, cache, warm_up, observer);
  RunnerReport report{.name = runner.name(), .note = std::string(runner.note()), .iterations = cache.size()};
  for (int64_t i = 0; i < cache.size(); ++i) {
    const std::vector<Tensor> feed = cache.feed(i);
    observer.on_inputs({runner.name(), i, seen_inputs(runner.inputs(), feed), feed});
    report.seconds += run_iteration(runner, feed, receiver, observer);
  }
  observer.on_runner_end(report);
}

}  // namespace assay
