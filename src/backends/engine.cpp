// --engine: our own engine as a backend.
#include <algorithm>
#include <exception>
#include <new>
#include <optional>

#include "backends/backend_list.h"
#include "backends/session_info.h"
#include "base/article.h"
#include "base/log.h"
#include "base/parallel.h"
#include "engine/build/executable.h"
#include "graph/clone.h"
#include "ops/infer.h"
#include "reference/interpreter.h"

namespace assay::backend_engine {
namespace {

/// So many blocks of memory for outputs are kept to be given out again.
constexpr size_t kMaxBlocks = 256;

/// Memory for outputs. A tensor handed out keeps its block; a block that nobody holds any more is given out
/// again.
class BlockPool {
 public:
  /// Null when memory is refused.
  std::shared_ptr<engine::Arena> take(size_t bytes) noexcept {
    std::shared_ptr<engine::Arena>* best = nullptr;
    for (auto& block : blocks_) {
      if (block.use_count() > 1 || block->size() < bytes || block->size() > 2 * bytes + 4096) continue;
      if (best == nullptr || block->size() < (*best)->size()) best = &block;
    }
    if (best != nullptr) return *best;
    try {
      // What did not fit this time is unlikely to fit again.
      std::erase_if(blocks_, [](const auto& block) { return block.use_count() == 1; });
      auto block = std::make_shared<engine::Arena>(std::max<size_t>(bytes, 1));
      if (blocks_.size() < kMaxBlocks) blocks_.push_back(block);
      return block;
    } catch (const std::exception&) {
      return nullptr;
    }
  }

 private:
  std::vector<std::shared_ptr<engine::Arena>> blocks_;
};

/// Hands outputs to a session's sink as soon as they are final.
class SinkBinding final : public engine::OutputBinding {
 public:
  SinkBinding(const engine::Plan& plan, BlockPool& pool, const Session::Sink& sink, Stopwatch& watch)
      : plan_(plan), pool_(pool), sink_(sink), watch_(watch), blocks_(plan.outputs.size()) {}

  void* memory(size_t i, size_t bytes) noexcept override {
    blocks_[i] = pool_.take(bytes);
    return blocks_[i] != nullptr ? blocks_[i]->data() : nullptr;
  }
  void finished(size_t i) noexcept override {
    const engine::PlanValue& v = plan_.values[static_cast<size_t>(plan_.outputs[i])];
    deliver(i, [&] { return Tensor::view(v.dtype, v.shape, blocks_[i]->data(), blocks_[i]); });
  }
  void released(size_t i) noexcept override { blocks_[i].reset(); }
  void computed(size_t i, const Tensor& tensor) noexcept override {
    deliver(i, [&] { return tensor; });
  }
  /// What the sink threw, if anything.
  std::exception_ptr failure() const { return failure_; }

 private:
  template <typename Make>
  void deliver(size_t i, Make make) noexcept {
    if (failure_) return;
    watch_.pause();
    try {
      sink_(i, make());
    } catch (...) {
      failure_ = std::current_exception();
    }
    watch_.resume();
  }

  const engine::Plan& plan_;
  BlockPool& pool_;
  const Session::Sink& sink_;
  Stopwatch& watch_;
  std::vector<std::shared_ptr<engine::Arena>> blocks_;
  std::exception_ptr failure_;
};

engine::BuildConfig config_of(const SessionOptions& options) {
  const std::shared_ptr<ThreadPool> threads = pool_of(options.threads);
  engine::BuildConfig config = engine::default_config(threads->size());
  config.pool = threads;
  config.optimize = options.optimize;
  config.passes.set = options.passes;
  config.tactics.set = options.tactics;
  config.bodies_ahead = false;
  config.reports = false;
  return config;
}

/// Steps of the reference (ops/work.h): a few seconds at most.
constexpr int64_t kMostWork = 2'000'000'000;

/// After a run of the engine that failed: evaluates the network as it was given on the same inputs, and
/// throws what the reference says against them, which names the network's own node and the operator's rule.
/// Returns where it has nothing to say, or would take too long to find out. `lacks_memory`: that is what the
/// run failed for, and what the reference may say, too.
void refuse_as_reference(const std::shared_ptr<const Model>& network, std::span<const Tensor> inputs,
                         bool lacks_memory = false) {
  try {
    Interpreter interpreter(network, {.precision = ReferencePrecision::kStored, .max_work = kMostWork});
    interpreter.run(inputs, [](const Value&, std::span<const Tensor>) {});
  } catch (const TooMuchWork&) {
    return;
  } catch (const Error& e) {
    // An operator that it does not know.
    if (e.code() == ErrorCode::kInternal || (e.code() == ErrorCode::kUnsupported && !lacks_memory)) return;
    throw;
  } catch (const std::bad_alloc&) {
    return;
  }
}

/// Opsets below this one have forms of operators that depend on ranks; the engine's passes know later forms.
constexpr int64_t kFirstOpset = 7;

bool has_old_forms(const Model& model) { return model.opset() > 0 && model.opset() < kFirstOpset; }

/// Forms of operators that broadcast less than the later ones, which the engine runs: whether these inputs
/// keep to them. Throws Error as the reference does.
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

class EngineSession final : public Session {
 public:
  EngineSession(const ModelSource& source, const SessionOptions& options)
      : network_(source.model),
        inputs_(tensor_infos(source.model->graph->inputs)),
        outputs_(tensor_infos(source.model->graph->outputs)),
        executable_(std::make_shared<engine::Specializer>(source.model, config_of(options))) {
    try {
      executable_.plans()->open();
    } catch (const Error& e) {
      // Of extents that nobody can count the run says which node makes them.
      if (e.code() != ErrorCode::kInvalidArgument) throw;
      return;
    }
    std::vector<Shape> shapes;
    for (const TensorInfo& info : inputs_) {
      if (!info.type.is_tensor())
        shapes.emplace_back();
      else if (const auto shape = info.type.has_shape() ? known_shape(*info.type.dims) : std::nullopt)
        shapes.push_back(*shape);
    }
    if (shapes.size() != inputs_.size()) return;
    try {
      if (auto plan = executable_.plans()->prepare(shapes)) executable_.add(std::move(plan));
    } catch (const Error& e) {
      // What is wrong with the network the run says, as the reference does.
      if (e.code() == ErrorCode::kUnsupported) throw;
    }
  }

  const std::vector<TensorInfo>& inputs() const override { return inputs_; }
  const std::vector<TensorInfo>& outputs() const override { return outputs_; }
  double last_run_seconds() const override { return seconds_; }

  void run(std::span<const Tensor> feed, const Sink& sink) override {
    for (size_t i = 0; i < feed.size(); ++i)
      require(!feed[i].is_container() || !inputs_[i].type.is_tensor(), ErrorCode::kInvalidArgument,
              "input '{}' is of type {}, not {}", inputs_[i].name, inputs_[i].type.str(),
              with_article(dtype_name(feed[i].dtype())));
    if (has_old_forms(*network_) && checked_ != shapes_of(feed)) {
      check_old_forms(network_, feed);
      checked_ = shapes_of(feed);
    }
    engine::Context& context = ready_context(feed);
    Stopwatch watch;
    SinkBinding binding(context.plan(), pool_, sink, watch);
    const engine::Status status = context.run(feed, binding);
    watch.pause();
    seconds_ = watch.seconds();
    if (binding.failure()) std::rethrow_exception(binding.failure());
    if (status == engine::Status::kOk) return;
    if (status != engine::Status::kCancelled)
      refuse_as_reference(network_, feed, status == engine::Status::kOutOfMemory);
    report(context, status);
  }

 private:
  /// What cannot be made ready may be a network that does not fit these inputs.
  engine::Context& ready_context(std::span<const Tensor> feed) {
    try {
      return executable_.context_for(feed);
    } catch (const Error& e) {
      // Extents that nobody can count, and memory: of unknown operators open() has spoken.
      refuse_as_reference(network_, feed, e.code() != ErrorCode::kInvalidModel);
      throw;
    }
  }

  static std::vector<Shape> shapes_of(std::span<const Tensor> feed) {
    std::vector<Shape> shapes;
    for (const Tensor& t : feed) shapes.push_back(t.is_container() ? Shape() : t.shape());
    return shapes;
  }

  [[noreturn]] static void report(const engine::Context& context, engine::Status status) {
    const engine::Step& step = context.plan().steps[context.failed_step()];
    std::string origins;
    for (const std::string& name : step.origins) origins += (origins.empty() ? "" : ", ") + name;
    const std::string reason =
        context.error().empty() ? std::string(engine::status_text(status)) : context.error();
    Error error(ErrorCode::kInvalidModel, reason);
    // The plain evaluation names the node itself, in the reference's words.
    if (step.tactic == "evaluate" && !context.error().empty()) throw error;
    error.add_context(fmt::format("in the engine's step {} ({}) for {}", context.failed_step(), step.tactic,
                                  origins.empty() ? "an output" : origins));
    throw error;
  }

  std::shared_ptr<const Model> network_;
  std::vector<TensorInfo> inputs_, outputs_;
  engine::Executable executable_;
  BlockPool pool_;
  std::optional<std::vector<Shape>> checked_;  ///< the last shapes that check_old_forms() was asked about
  double seconds_ = 0;
};

constexpr BackendVariant kVariants[] = {{.name = "unoptimized",
                                         .summary = "the engine without optimising passes",
                                         .apply = [](SessionOptions& o) { o.optimize = false; }}};

class EngineBackend final : public Backend {
 public:
  using Backend::Backend;
  std::unique_ptr<Session> open(const ModelSource& source, const SessionOptions& options) const override {
    try {
      return std::make_unique<EngineSession>(source, options);
    } catch (const Error& e) {
      if (e.code() != ErrorCode::kUnsupported || !has_old_forms(*source.model)) throw;
      log::warning("The engine evaluates this model as it is, operator by operator: {}", e.what());
      SessionOptions plain = options;
      plain.reference_precision = ReferencePrecision::kStored;
      return backend_reference::def.open(source, plain);
    }
  }
};

constinit const EngineBackend kBackend({
    .name = "engine",
    .option = "--engine",
    .runner_prefix = "engine-runner",
    .human_name = "Engine",
    .summary = "our engine: the network optimised for this CPU, with a static memory plan",
    .is_own = true,
    .variants = kVariants,
});

}  // namespace

constinit const Backend& def = kBackend;

}  // namespace assay::backend_engine
