#include "backends/engine_session.h"

#include <new>
#include <optional>

#include "backends/plan_counter.h"
#include "base/diagnostics.h"
#include "base/parallel.h"
#include "engine/objects/state.h"
#include "graph/clone.h"
#include "ops/infer.h"
#include "reference/interpreter.h"

namespace assay {
namespace {

/// Steps of the reference (ops/work.h): a few seconds at most.
constexpr int64_t kMaxWork = 2'000'000'000;

/// The first opset whose operators broadcast by the extents alone.
constexpr int64_t kFirstOpset = 7;

/// After a failed run of the engine: evaluates the original network on the same inputs, and throws the
/// reference's error, which names the network's own node and the operator's rule. Returns if there is none,
/// or if it would take too long. `lacks_memory`: the run may have failed for lack of memory, and so may the
/// reference.
void refuse_as_reference(const std::shared_ptr<const Model>& network, std::span<const Tensor> inputs,
                         bool lacks_memory = false) {
  try {
    Interpreter interpreter(network, {.precision = ReferencePrecision::kStored, .max_work = kMaxWork});
    interpreter.run(inputs, [](const Value&, std::span<const Tensor>) {});
  } catch (const TooMuchWork&) {
    return;
  } catch (const Error& e) {
    // An unknown operator.
    const bool is_ours = e.code() == ErrorCode::kUnsupported || e.code() == ErrorCode::kResource;
    if (e.code() == ErrorCode::kInternal || (is_ours && !lacks_memory)) return;
    throw;
  } catch (const std::bad_alloc&) {
    return;
  }
}

/// Checks inputs of old operator forms, which broadcast less than the newer ones that the engine runs. Throws
/// Error as the reference does.
void check_old_forms(const std::shared_ptr<const Model>& network, std::span<const Tensor> feed) {
  const std::shared_ptr<Model> model = clone_model(*network);
  for (size_t i = 0; i < feed.size(); ++i)
    if (model->graph->inputs[i]->type.is_tensor())
      model->graph->inputs[i]->type = Type::tensor(feed[i].dtype(), feed[i].shape());
  try {
    infer_shapes(*model);
  } catch (const Error&) {
    refuse_as_reference(network, feed);
    throw;
  }
}

std::vector<Shape> shapes_of(std::span<const Tensor> feed) {
  std::vector<Shape> shapes;
  for (const Tensor& t : feed) shapes.push_back(t.is_container() ? Shape() : t.shape());
  return shapes;
}

class EngineSession final : public Session, public PlanCounter {
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
  BuiltPlans plans_built() const override {
    const engine::PlanCounts& counts = context_->engine().state().current_plans()->built();
    return {.whole = counts.whole, .parts = counts.parts};
  }

  void run(std::span<const Tensor> feed, const Sink& sink) override {
    check_form(feed);
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
      // The engine's error about inputs or memory
      // may stem from a rule of the network.
      if (!is_in_sink && network_ != nullptr)
        refuse_as_reference(network_, feed, e.code() != ErrorCode::kInvalidModel);
      throw;
    }
  }

 private:
  void check_form(std::span<const Tensor> feed) {
    if (network_ == nullptr || !has_old_forms(*network_)) return;
    std::vector<Shape> shapes = shapes_of(feed);
    if (checked_ == shapes) return;
    check_old_forms(network_, feed);
    checked_ = std::move(shapes);
  }

  std::shared_ptr<Runtime> runtime_;
  std::shared_ptr<const Model> network_;
  std::unique_ptr<ExecutionContext> context_;
  std::vector<TensorInfo> inputs_, outputs_;
  std::optional<std::vector<Shape>> checked_;  ///< the last shapes given to check_old_forms()
};

}  // namespace

bool has_old_forms(const Model& model) { return model.opset() > 0 && model.opset() < kFirstOpset; }

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
  diag::info("Loading bytes from {}", source.path);
  const std::shared_ptr<Engine> engine = runtime->load_engine(source.path);
  if (!options.save_engine.empty()) {
    diag::info("Saving engine to {}", options.save_engine);
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
