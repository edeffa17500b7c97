#include "run/runner.h"

#include <fmt/format.h>

#include <ctime>
#include <map>

#include "base/log.h"
#include "compare/report.h"
#include "graph/metadata_text.h"
#include "reference/evaluate.h"
#include "tensor/print.h"

namespace assay {
namespace {

/// Python's strftime("%x") and strftime("%X") in the C locale.
std::string date_and_time() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  char text[32];
  std::strftime(text, sizeof text, "%m/%d/%y-%H:%M:%S", &local);
  return text;
}

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

bool draws_random_numbers(const Graph& graph, const Model& model) {
  for (const auto& n : graph.nodes()) {
    const OpDef* op = bind_op(*n, model).op;
    if (op == nullptr || op->random) return true;
    for (const Attribute& a : n->attributes)
      if (const auto* sub = a.get_if<std::shared_ptr<Graph>>(); sub && draws_random_numbers(**sub, model))
        return true;
  }
  return false;
}

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

bool shape_fits(const Shape& shape, const std::optional<Dims>& dims) {
  if (!dims) return true;
  if (dims->size() != shape.size()) return false;
  for (size_t i = 0; i < dims->size(); ++i)
    if ((*dims)[i].is_known() && (*dims)[i].value() != shape[i]) return false;
  return true;
}

void Runner::activate(ModelLoader& loader) {
  const Backend& backend = *choice_.backend;
  if (const std::string reason = backend.probe(options_); !reason.empty())
    fail(ErrorCode::kUnsupported, "{} cannot be used: {}", backend.option, reason);
  // A model that is changed is loaded before the session is announced, one that is not only by the session.
  ModelSource source;
  const bool is_changed = loader.changes_model();
  if (is_changed) source = loader.load_for(backend);
  if (backend.announce != nullptr) backend.announce(options_);
  if (!is_changed) source = loader.load_for(backend);
  session_ = pool_->take(backend);
  if (session_ == nullptr) session_ = backend.open(source, options_);
  model_ = source.model;
}

void Runner::deactivate() {
  if (session_ != nullptr) pool_->put(*choice_.backend, *model_, std::move(session_));
}

std::unique_ptr<Session> SessionPool::take(const Backend& backend) {
  --expected_[&backend];
  return std::exchange(kept_[&backend], nullptr);
}

void SessionPool::put(const Backend& backend, const Model& model, std::unique_ptr<Session> session) {
  if (expected_[&backend] > 0 && !draws_random_numbers(*model.graph, model))
    kept_[&backend] = std::move(session);
}

double Runner::infer(std::span<const Tensor> feed, const Session::Sink& sink) {
  const std::vector<TensorInfo>& expected = inputs();
  if (log::enabled(log::Severity::kVerbose)) {
    MetadataText text;
    for (const TensorInfo& i : expected) text.add(i.name, i.type.dtype, i.type.dims);
    log::once(log::Severity::kVerbose, "{:35} | Input metadata is: {}", name_, text.str());
  }
  for (size_t i = 0; i < expected.size(); ++i) {
    const TensorInfo& info = expected[i];
    if (info.type.dtype != feed[i].dtype())
      log::critical(ErrorCode::kInvalidArgument,
                    "Input tensor: {} | Received unexpected dtype: {}.\nNote: Expected type: {}", info.name,
                    dtype_name(feed[i].dtype()), dtype_name(info.type.dtype));
    if (!shape_fits(feed[i].shape(), info.type.dims))
      log::critical(
          ErrorCode::kInvalidArgument,
          "Input tensor: {} | Received incompatible shape: {}.\nNote: Expected a shape compatible with: {}",
          info.name, feed[i].shape().str(), bounded_shape_text(*info.type.dims));
  }
  session_->run(feed, sink);
  return session_->last_run_seconds();
}

std::vector<Runner> make_runners(const std::vector<RunnerChoice>& choices, const SessionOptions& options) {
  std::vector<Runner> runners;
  std::map<std::string, int> counts;
  const auto pool = std::make_shared<SessionPool>();
  for (const RunnerChoice& choice : choices)
    runners.emplace_back(choice, options,
                         fmt::format("{}-N{}-{}", choice.prefix, counts[choice.prefix]++, date_and_time()),
                         pool);
  return runners;
}

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
  log::finish("{:35} | Completed {} iteration(s) in {:.4g} ms | Average inference time: {:.4g} ms.",
              runner.name(), completed, total_ms, total_ms / static_cast<double>(completed));
}

}  // namespace assay
