// One runner over all iterations.
#include <fmt/format.h>

#include <algorithm>

#include "base/log.h"
#include "compare/report.h"
#include "graph/metadata_text.h"
#include "run/runner.h"
#include "tensor/print.h"

namespace assay {
namespace {

/// The session lives as long as this.
class Active {
 public:
  Active(Runner& runner, ModelLoader& loader) : runner_(runner) { runner.activate(loader); }
  ~Active() { runner_.deactivate(); }
  Active(const Active&) = delete;
  Active& operator=(const Active&) = delete;

 private:
  Runner& runner_;
};

std::string inputs_text(const std::vector<TensorInfo>& infos, std::span<const Tensor> tensors) {
  MetadataText text;
  for (size_t i = 0; i < infos.size(); ++i) text.add(infos[i].name, tensors[i].dtype(), tensors[i].shape());
  return text.str();
}

void warm_up_runner(Runner& runner, const LoaderCache& cache, int64_t count) {
  if (count <= 0) return;
  log::start("{:35} | Running {} warm-up run(s)", runner.name(), count);
  if (cache.size() == 0) {
    log::warning(
        "{} warm-up run(s) were requested, but data loader did not supply any data. Skipping warm-up run(s)",
        count);
  } else {
    const std::vector<Tensor> feed = cache.feed(0);
    for (int64_t i = 0; i < count; ++i) runner.infer(feed, [](size_t, Tensor) {});
  }
  log::finish("{:35} | Finished {} warm-up run(s)", runner.name(), count);
}

/// The values of tensors, for -vv.
std::string values_text(const std::vector<TensorInfo>& infos, std::span<const Tensor> tensors) {
  std::string text;
  for (size_t i = 0; i < infos.size(); ++i)
    text += "\n" + infos[i].name + ":\n" + indent_block(array_str(tensors[i]));
  return indent_block(text.substr(std::min<size_t>(text.size(), 1)));
}

double run_iteration(Runner& runner, std::span<const Tensor> feed, InferenceObserver& observer) {
  log::once(log::Severity::kInfo, "{:35}\n---- Inference Input(s) ----\n{}", runner.name(),
            inputs_text(runner.inputs(), feed));
  const bool shows_values = log::enabled(log::Severity::kExtraVerbose);
  if (shows_values)
    log::extra_verbose("{:35} | Feeding inputs:\n{}", runner.name(), values_text(runner.inputs(), feed));
  struct Seen {
    DType dtype = DType::kUndefined;
    Shape shape;
  };
  std::vector<Seen> seen(runner.outputs().size());
  std::vector<Tensor> kept(shows_values ? seen.size() : 0);
  const double seconds = runner.infer(feed, [&](size_t output, Tensor tensor) {
    seen.at(output) = {tensor.dtype(), tensor.shape()};
    if (shows_values) kept[output] = tensor;
    observer.on_output(output, std::move(tensor));
  });
  observer.on_iteration_end(seconds);
  MetadataText text;
  for (size_t i = 0; i < seen.size(); ++i) text.add(runner.outputs()[i].name, seen[i].dtype, seen[i].shape);
  log::once(log::Severity::kInfo, "{:35}\n---- Inference Output(s) ----\n{}", runner.name(), text.str());
  if (shows_values)
    log::extra_verbose("{:35} | Inference Time: {:.3f} ms | Received outputs:\n{}", runner.name(),
                       seconds * 1000, values_text(runner.outputs(), kept));
  return seconds;
}

}  // namespace

void execute_runner(Runner& runner, ModelLoader& loader, LoaderCache& cache, int64_t warm_up,
                    InferenceObserver& observer) {
  const Active active(runner, loader);
  observer.on_active(runner.outputs());
  cache.set_inputs(runner.inputs());
  warm_up_runner(runner, cache, warm_up);
  double total_ms = 0;
  for (int64_t i = 0; i < cache.size(); ++i)
    total_ms += 1000 * run_iteration(runner, cache.feed(i), observer);
  // Polygraphy counts from the index of the last iteration, so none reads as one.
  const int64_t completed = std::max<int64_t>(cache.size(), 1);
  log::finish("{:35} | Completed {} iteration(s) in {:.4g} ms | Average inference time: {:.4g} ms.{}",
              runner.name(), completed, total_ms, total_ms / static_cast<double>(completed),
              runner.note().empty() ? "" : " | " + runner.note());
}

}  // namespace assay
