#include "backends/engine_session.h"

#include <new>

#include "base/log.h"
#include "base/parallel.h"
#include "reference/interpreter.h"

namespace assay {
namespace {

/// Steps of the reference (ops/work.h): a few seconds at most.
constexpr int64_t kMaxWork = 2'000'000'000;

/// After a run of the engine that failed: evaluates the network as it was given on the same inputs, and
/// throws what the reference says against them, which names the network's own node and the operator's rule.
/// Returns where it has nothing to say, or would take too long to find out.
void refuse_as_reference(const std::shared_ptr<const Model>& network, std::span<const Tensor> inputs) {
  try {
    Interpreter interpreter(network, {.precision = ReferencePrecision::kStored, .max_work = kMaxWork});
    interpreter.run(inputs, [](const Value&, std::span<const Tensor>) {});
  } catch (const Error& e) {
    // An operator that it does not know, or too much work.
    if (e.code() != ErrorCode::kUnsupported && e.code() != ErrorCode::kInternal) throw;
  } catch (const std::bad_alloc&) {
    return;
  }
}

class EngineSession final : public Session {
 public:
  EngineSession(std::shared_ptr<Runtime> runtime, const std::shared_ptr<Engine>& engine, size_t profile,
                std::shared_ptr<const Model> network)
      : runtime_(std::move(runtime)),
        network_(std::move(network)),
        context_(engine->create_execution_context()),
        inputs_(inputs_in_profile(*engine, profile)) {
    context_->set_optimization_profile(profile);
    for (const IoTensor& t : engine->outputs()) outputs_.push_back({t.name, t.type});
  }
  const std::vector<TensorInfo>& inputs() const override { return inputs_; }
  const std::vector<TensorInfo>& outputs() const override { return outputs_; }
  double last_run_seconds() const override { return context_->last_run_seconds(); }

  void run(std::span<const Tensor> feed, const Sink& sink) override {
    bool is_in_sink = false;
    try {
      context_->infer(feed, [&](size_t output, Tensor value) {
        is_in_sink = true;
        sink(output, std::move(value));
        is_in_sink = false;
      });
    } catch (const Cancelled&) {
      throw;
    } catch (const Error& e) {
      // What the engine says against the inputs may be what the network does not allow.
      if (!is_in_sink && network_ != nullptr &&
          (e.code() == ErrorCode::kInvalidModel || e.code() == ErrorCode::kInternal))
        refuse_as_reference(network_, feed);
      throw;
    }
  }

 private:
  std::shared_ptr<Runtime> runtime_;
  std::shared_ptr<const Model> network_;
  std::unique_ptr<ExecutionContext> context_;
  std::vector<TensorInfo> inputs_, outputs_;
};

}  // namespace

std::shared_ptr<Runtime> session_runtime(const ModelSource& source, const SessionOptions& options) {
  return std::make_shared<Runtime>(
      RuntimeOptions{.pool = pool_of(options.threads),
                     .ops = source.model != nullptr ? source.model->ops : options.ops,
                     .passes = options.passes,
                     .tactics = options.tactics});
}

std::unique_ptr<Session> engine_session(std::shared_ptr<Runtime> runtime,
                                        const std::shared_ptr<Engine>& engine, size_t profile,
                                        std::shared_ptr<const Model> network) {
  return std::make_unique<EngineSession>(std::move(runtime), engine, profile, std::move(network));
}

std::unique_ptr<Session> plan_session(const ModelSource& source, const SessionOptions& options) {
  const std::shared_ptr<Runtime> runtime = session_runtime(source, options);
  log::info("Loading bytes from {}", source.path);
  const std::shared_ptr<Engine> engine = runtime->load_engine(source.path);
  if (!options.save_engine.empty()) {
    log::info("Saving engine to {}", options.save_engine);
    engine->save(options.save_engine);
  }
  return engine_session(runtime, engine, options.profile, nullptr);
}

std::vector<TensorInfo> inputs_in_profile(const Engine& engine, size_t profile) {
  std::vector<TensorInfo> inputs;
  for (const IoTensor& t : engine.inputs()) {
    inputs.push_back({t.name, t.type});
    const OptimizationProfile::Range* range =
        profile < engine.profiles().size() ? engine.profiles()[profile].find(t.name) : nullptr;
    std::optional<Dims>& dims = inputs.back().type.dims;
    if (range == nullptr || range->holds_values) continue;
    if (!dims) dims.emplace(range->min.size());
    for (size_t d = 0; d < dims->size() && d < range->min.size(); ++d)
      if (!(*dims)[d].is_known() && range->min[d] == range->max[d]) (*dims)[d] = Dim(range->min[d]);
  }
  return inputs;
}

}  // namespace assay
