#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>

#include "base/time_trace.h"
#include "engine/objects/state.h"
#include "engine/runtime/streamed_outputs.h"
#include "engine/runtime/tensor_outputs.h"
#include "engine/specialize/executable.h"

namespace assay {
namespace {

/// Memory that the user has bound, for outputs.
struct Binding {
  void* memory = nullptr;
  size_t bytes = 0;
};

/// Takes outputs to bound memory.
class BoundOutputs final : public engine::OutputBinding {
 public:
  std::vector<Binding> bindings;
  std::vector<Shape> shapes;  ///< of outputs whose shape came out in the run
  /// The first output that did not fit, and what it needs.
  std::optional<std::pair<size_t, size_t>> misfit;

  void* memory(size_t i, size_t bytes) noexcept override {
    if (bindings[i].memory != nullptr && bindings[i].bytes >= bytes) return bindings[i].memory;
    if (!misfit) misfit = {i, bytes};
    return nullptr;
  }
  void finished(size_t) noexcept override {}
  void released(size_t) noexcept override {}
  void computed(size_t i, const Tensor& tensor) noexcept override {
    if (tensor.is_container() || tensor.dtype() == DType::kString || memory(i, tensor.nbytes()) == nullptr) {
      if (!misfit) misfit = {i, tensor.nbytes()};
      return;
    }
    if (tensor.nbytes() > 0) std::memcpy(bindings[i].memory, tensor.data(), tensor.nbytes());
    shapes[i] = tensor.shape();
  }
};

}  // namespace

struct ExecutionContext::State {
  explicit State(std::shared_ptr<Engine> e) : engine(std::move(e)) {
    const size_t outputs = engine->state().io.size() - engine->state().input_count;
    inputs.resize(engine->state().input_count);
    shapes.resize(inputs.size());
    addresses.resize(inputs.size());
    address_bytes.resize(inputs.size());
    bound.bindings.resize(outputs);
    bound.shapes.resize(outputs);
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Type& type = io(i).type;
      if (type.has_shape()) shapes[i] = known_shape(*type.dims);
    }
    refresh();
  }

  const IoTensor& io(size_t i) const { return engine->state().io[i]; }
  const IoTensor& output(size_t i) const { return engine->state().io[inputs.size() + i]; }

  /// After a refit there are other plans.
  void refresh() {
    const uint64_t current = engine->state().generation.load(std::memory_order_acquire);
    if (executable != nullptr && generation == current) return;
    generation = current;
    executable = std::make_unique<engine::Executable>(engine->state().current_plans());
    executable->set_cancel_flag(&cancelled);
    executable->set_memory(device_memory, device_bytes);
  }

  size_t input_index(std::string_view name) const {
    for (size_t i = 0; i < inputs.size(); ++i)
      if (io(i).name == name) return i;
    fail(ErrorCode::kNotFound, "the engine '{}' has no input '{}'", engine->name(), name);
  }
  size_t io_index(std::string_view name) const {
    for (size_t i = 0; i < engine->state().io.size(); ++i)
      if (io(i).name == name) return i;
    fail(ErrorCode::kNotFound, "the engine '{}' has no input or output '{}'", engine->name(), name);
  }

  /// Throws Error unless the network and the profile allow the shape.
  void check_shape(size_t i, const Shape& shape) const {
    const Type& type = io(i).type;
    if (type.has_shape()) {
      bool fits = type.dims->size() == shape.size();
      for (size_t d = 0; fits && d < shape.size(); ++d)
        fits = shape[d] >= 0 && (!(*type.dims)[d].is_known() || (*type.dims)[d].value() == shape[d]);
      require(fits, ErrorCode::kInvalidArgument, "input '{}' of shape {} cannot have the shape {}",
              io(i).name, dims_str(*type.dims), shape.str());
    }
    const auto& profiles = engine->profiles();
    if (profiles.empty()) return;
    const OptimizationProfile::Range* range = profiles[profile].find(io(i).name);
    if (range == nullptr || range->holds_values) return;
    for (size_t d = 0; d < std::max(shape.size(), range->min.size()); ++d)
      require(shape.size() == range->min.size() && shape[d] >= range->min[d] && shape[d] <= range->max[d],
              ErrorCode::kInvalidArgument,
              "input '{}' has the shape {}, which is outside of profile {}: from {} to {}", io(i).name,
              shape.str(), profile, Shape(range->min).str(), Shape(range->max).str());
  }

  /// Throws Error unless the profile allows what a shape tensor holds.
  void check_values() const {
    if (engine->profiles().empty()) return;
    for (const OptimizationProfile::Range& range : engine->profiles()[profile].ranges()) {
      if (!range.holds_values) continue;
      const size_t i = input_index(range.input);
      const std::vector<int64_t> held = inputs[i].to_int64();
      for (size_t k = 0; k < held.size(); ++k)
        require(held.size() == range.min.size() && held[k] >= range.min[k] && held[k] <= range.max[k],
                ErrorCode::kInvalidArgument,
                "input '{}' holds {}, which is outside of profile {}: from {} to {}", range.input,
                Shape(held).str(), profile, Shape(range.min).str(), Shape(range.max).str());
    }
  }

  /// With inputs of these shapes, as far as shapes tell.
  const std::vector<std::optional<Shape>>& output_shapes(engine::Specializer& plans,
                                                         std::vector<Shape> input_shapes) {
    if (inferred_for != input_shapes) {
      outputs_inferred = plans.output_shapes(input_shapes);
      inferred_for = std::move(input_shapes);
    }
    return outputs_inferred;
  }

  void view_input(size_t i) {
    if (addresses[i] == nullptr || !shapes[i]) {
      inputs[i] = {};
      return;
    }
    const DType dtype = io(i).type.dtype;
    require(storage_bytes(dtype, shapes[i]->numel()) <= address_bytes[i], ErrorCode::kInvalidArgument,
            "input '{}' of shape {} needs {} bytes, {} are bound", io(i).name, shapes[i]->str(),
            storage_bytes(dtype, shapes[i]->numel()), address_bytes[i]);
    inputs[i] = Tensor::view(dtype, *shapes[i], addresses[i], nullptr);
  }

  [[noreturn]] void report(const engine::Context& context, engine::Status status) const {
    if (status == engine::Status::kCancelled) throw Cancelled();
    if (bound.misfit) {
      const auto [i, bytes] = *bound.misfit;
      if (bound.bindings[i].memory == nullptr)
        fail(ErrorCode::kInvalidArgument, "output '{}' has no memory bound to it", output(i).name);
      fail(ErrorCode::kInvalidArgument, "output '{}' needs {} bytes, {} are bound", output(i).name, bytes,
           bound.bindings[i].bytes);
    }
    throw engine::run_error(context, status);
  }

  /// For `inputs`. Taps show every value, so nothing may wait for its shape then.
  engine::Context& ready_context() { return executable->context_for(inputs, tap != nullptr); }

  /// Takes inputs for one run; InputsTaken lets go of them. Throws Error where they do not fit.
  void take(std::span<const Tensor> given) {
    require(given.size() == inputs.size(), ErrorCode::kInvalidArgument,
            "the engine '{}' has {} inputs, not {}", engine->name(), inputs.size(), given.size());
    for (size_t i = 0; i < given.size(); ++i) {
      const Type& type = io(i).type;
      require(given[i].defined() && given[i].is_container() != type.is_tensor() &&
                  (!type.is_tensor() || given[i].dtype() == type.dtype),
              ErrorCode::kInvalidArgument, "input '{}' is of type {}, not {}", io(i).name, type.str(),
              given[i].defined() ? dtype_name(given[i].dtype()) : "nothing");
      if (type.is_tensor()) check_shape(i, given[i].shape());
    }
    refresh();
    for (size_t i = 0; i < given.size(); ++i) {
      inputs[i] = given[i];
      addresses[i] = nullptr;
      if (!given[i].is_container()) shapes[i] = given[i].shape();
    }
  }

  /// Before each run, whose inputs are there.
  engine::Context& begin() {
    check_values();
    bound.misfit.reset();
    cancelled.store(false, std::memory_order_relaxed);
    return ready_context();
  }

  /// Runs on `inputs`. `failure`: what an output's receiver threw.
  void run(engine::Context& context, engine::OutputBinding& outputs, Stopwatch& stopwatch,
           const std::exception_ptr& failure = {}) {
    watch(context);
    const engine::Status status = [&] {
      const trace::Span span(
          profiler != nullptr ? trace::Kind::kProfile : trace::Kind::kRun,
          [&] { return engine->name().empty() ? std::string("run") : engine->name(); }, "engine");
      return context.run(inputs, outputs);
    }();
    stopwatch.pause();
    run_seconds = stopwatch.seconds();
    if (failure) std::rethrow_exception(failure);
    if (tap_failure) std::rethrow_exception(std::exchange(tap_failure, nullptr));
    if (status != engine::Status::kOk || bound.misfit) report(context, status);
    if (profiler != nullptr)
      for (size_t s = 0; s < seconds.size(); ++s)
        profiler->report_layer_time(engine::step_name(context.plan().steps[s]), seconds[s] * 1e3);
  }

  void watch(engine::Context& context) {
    context.set_profile(nullptr, nullptr);
    if (profiler != nullptr) {
      seconds.assign(context.plan().steps.size(), 0);
      context.set_profile(&seconds, [target = engine->state().runtime->target] { return target->seconds(); });
    }
    if (!tap) return context.set_observer(nullptr);
    context.set_observer([this, &context](size_t s) {
      const engine::Step& step = context.plan().steps[s];
      if (step.tactic == "reorder") return;  // what it writes has been shown
      try {
        for (size_t o = 0; o < step.outputs.size(); ++o)
          if (const Tensor t = context.observed(s, o); t.defined())
            tap(context.plan().values[static_cast<size_t>(step.outputs[o])].name, t);
      } catch (...) {
        tap_failure = std::current_exception();
        cancelled.store(true, std::memory_order_relaxed);
      }
    });
  }

  std::shared_ptr<Engine> engine;
  std::unique_ptr<engine::Executable> executable;
  uint64_t generation = 0;
  size_t profile = 0;
  std::vector<Tensor> inputs;
  std::vector<std::optional<Shape>> shapes;
  std::vector<const void*> addresses;
  std::vector<size_t> address_bytes;
  BoundOutputs bound;
  /// The last shapes that outputs were asked for with.
  std::optional<std::vector<Shape>> inferred_for;
  std::vector<std::optional<Shape>> outputs_inferred;
  char* device_memory = nullptr;
  size_t device_bytes = 0;
  Profiler* profiler = nullptr;
  std::vector<double> seconds;
  engine::OutputBlocks blocks;
  double run_seconds = 0;
  std::function<void(const std::string&, const Tensor&)> tap;
  std::exception_ptr tap_failure;
  std::atomic<bool> cancelled = false, running = false;
};

namespace {

/// One user at a time.
class Turn {
 public:
  explicit Turn(std::atomic<bool>& running) : running_(running) {
    require(!running_.exchange(true, std::memory_order_acquire), ErrorCode::kInvalidArgument,
            "another thread is using this execution context: each thread needs one of its own");
  }
  ~Turn() { running_.store(false, std::memory_order_release); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  std::atomic<bool>& running_;
};

}  // namespace

ExecutionContext::ExecutionContext(std::shared_ptr<Engine> engine)
    : state_(std::make_unique<State>(std::move(engine))) {}
ExecutionContext::~ExecutionContext() = default;

const Engine& ExecutionContext::engine() const { return *state_->engine; }

void ExecutionContext::set_optimization_profile(size_t index) {
  const Turn turn(state_->running);
  require(index == 0 || index < state_->engine->profiles().size(), ErrorCode::kInvalidArgument,
          "the engine has {} profiles, so there is no profile {}", state_->engine->profiles().size(), index);
  state_->profile = index;
}
size_t ExecutionContext::optimization_profile() const { return state_->profile; }

void ExecutionContext::set_input_shape(std::string_view input, const Shape& shape) {
  const Turn turn(state_->running);
  const size_t i = state_->input_index(input);
  state_->check_shape(i, shape);
  state_->shapes[i] = shape;
  if (state_->addresses[i] != nullptr &&
      storage_bytes(state_->io(i).type.dtype, shape.numel()) > state_->address_bytes[i])
    state_->addresses[i] = nullptr;
  state_->view_input(i);
}

bool ExecutionContext::all_input_shapes_specified() const {
  for (size_t i = 0; i < state_->shapes.size(); ++i)
    if (state_->io(i).type.is_tensor() && !state_->shapes[i]) return false;
  return true;
}

std::optional<Shape> ExecutionContext::tensor_shape(std::string_view name) {
  const Turn turn(state_->running);
  const size_t i = state_->io_index(name);
  if (i < state_->inputs.size()) return state_->shapes[i];
  if (!all_input_shapes_specified()) return std::nullopt;
  state_->refresh();
  const size_t o = i - state_->inputs.size();
  const bool has_inputs =
      std::all_of(state_->inputs.begin(), state_->inputs.end(), [](const Tensor& t) { return t.defined(); });
  std::vector<Shape> shapes;
  for (const auto& s : state_->shapes) shapes.push_back(s.value_or(Shape()));
  engine::Specializer& plans = *state_->executable->plans();
  const auto ready = has_inputs ? plans.plan_for(state_->inputs) : plans.prepare(shapes);
  if (ready != nullptr) {
    const engine::PlanValue& v = ready->plan->values[static_cast<size_t>(ready->plan->outputs[o])];
    if (v.has_shape) return v.shape;
    if (ready->extents)
      if (const auto& shape = state_->output_shapes(plans, std::move(shapes))[o]) return shape;
  }
  // What only the run could tell, it may have told.
  return state_->bound.shapes[o].empty() ? std::nullopt : std::optional(state_->bound.shapes[o]);
}

void ExecutionContext::set_input_address(std::string_view name, const void* memory, size_t bytes) {
  const Turn turn(state_->running);
  const size_t i = state_->input_index(name);
  const Type& type = state_->io(i).type;
  require(type.is_tensor() && bit_width(type.dtype) != 0, ErrorCode::kUnsupported,
          "input '{}' of type {} has no memory that could be bound: give it to infer()", name, type.str());
  require(memory != nullptr, ErrorCode::kInvalidArgument, "the memory for input '{}' is null", name);
  require(is_aligned_for(type.dtype, memory), ErrorCode::kInvalidArgument,
          "the memory for input '{}' is misaligned for {}", name, dtype_name(type.dtype));
  if (state_->shapes[i])
    require(storage_bytes(type.dtype, state_->shapes[i]->numel()) <= bytes, ErrorCode::kInvalidArgument,
            "input '{}' of shape {} needs {} bytes, not {}", name, state_->shapes[i]->str(),
            storage_bytes(type.dtype, state_->shapes[i]->numel()), bytes);
  state_->addresses[i] = memory;
  state_->address_bytes[i] = bytes;
  state_->view_input(i);
}

void ExecutionContext::set_tensor_address(std::string_view name, void* memory, size_t bytes) {
  const size_t i = state_->io_index(name);
  if (i < state_->inputs.size()) return set_input_address(name, memory, bytes);
  const Turn turn(state_->running);
  const IoTensor& t = state_->io(i);
  require(t.type.is_tensor() && bit_width(t.type.dtype) != 0, ErrorCode::kUnsupported,
          "output '{}' of type {} has no memory that could be bound: infer() gives it", name, t.type.str());
  require(memory != nullptr, ErrorCode::kInvalidArgument, "the memory for output '{}' is null", name);
  require(reinterpret_cast<uintptr_t>(memory) % engine::kAlignment == 0, ErrorCode::kInvalidArgument,
          "the memory for output '{}' does not begin at a multiple of {} bytes", name, engine::kAlignment);
  if (t.type.has_shape())
    if (const auto shape = known_shape(*t.type.dims))
      require(storage_bytes(t.type.dtype, shape->numel()) <= bytes, ErrorCode::kInvalidArgument,
              "output '{}' of shape {} needs {} bytes, not {}", name, shape->str(),
              storage_bytes(t.type.dtype, shape->numel()), bytes);
  state_->bound.bindings[i - state_->inputs.size()] = {memory, bytes};
}

void ExecutionContext::set_device_memory(void* memory, size_t bytes) {
  const Turn turn(state_->running);
  require(reinterpret_cast<uintptr_t>(memory) % engine::kAlignment == 0, ErrorCode::kInvalidArgument,
          "the device memory does not begin at a multiple of {} bytes", engine::kAlignment);
  state_->device_memory = static_cast<char*>(memory);
  state_->device_bytes = bytes;
  state_->executable->set_memory(state_->device_memory, bytes);
}

void ExecutionContext::execute() {
  const Turn turn(state_->running);
  State& s = *state_;
  s.refresh();
  for (size_t i = 0; i < s.inputs.size(); ++i) {
    if (s.inputs[i].defined()) continue;
    require(s.shapes[i].has_value(), ErrorCode::kInvalidArgument,
            "input '{}' has no shape: set_input_shape() sets it", s.io(i).name);
    fail(ErrorCode::kInvalidArgument, "input '{}' has no memory bound to it that is large enough",
         s.io(i).name);
  }
  Stopwatch watch;
  s.run(s.begin(), s.bound, watch);
}

namespace {

/// The caller's tensors are not kept.
template <typename State>
class InputsTaken {
 public:
  InputsTaken(State& state, std::span<const Tensor> inputs) : state_(state) { state.take(inputs); }
  ~InputsTaken() { std::fill(state_.inputs.begin(), state_.inputs.end(), Tensor()); }
  InputsTaken(const InputsTaken&) = delete;
  InputsTaken& operator=(const InputsTaken&) = delete;

 private:
  State& state_;
};

}  // namespace

std::vector<Tensor> ExecutionContext::infer(std::span<const Tensor> inputs) {
  const Turn turn(state_->running);
  const InputsTaken taken(*state_, inputs);
  engine::Context& context = state_->begin();
  engine::TensorOutputs outputs(context.plan());
  Stopwatch watch;
  state_->run(context, outputs, watch);
  return outputs.take();
}

void ExecutionContext::infer(std::span<const Tensor> inputs, const OutputSink& sink) {
  const Turn turn(state_->running);
  const InputsTaken taken(*state_, inputs);
  engine::Context& context = state_->begin();
  Stopwatch watch;
  engine::StreamedOutputs outputs(context.plan(), state_->blocks, sink, watch);
  state_->run(context, outputs, watch, outputs.failure());
}

double ExecutionContext::last_run_seconds() const { return state_->run_seconds; }

void ExecutionContext::enqueue(Stream& stream) {
  stream.enqueue([this] { execute(); });
}

void ExecutionContext::cancel() { state_->cancelled.store(true, std::memory_order_relaxed); }

void ExecutionContext::set_profiler(Profiler* profiler) {
  const Turn turn(state_->running);
  state_->profiler = profiler;
}

void ExecutionContext::set_tap(std::function<void(const std::string&, const Tensor&)> on_value) {
  const Turn turn(state_->running);
  state_->tap = std::move(on_value);
}

}  // namespace assay
