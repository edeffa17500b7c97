#include "engine/runtime/context.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include "assay/interrupt.h"
#include "base/exception_text.h"
#include "base/parallel.h"
#include "base/time_trace.h"
#include "engine/runtime/complaint.h"

namespace assay::engine {

std::string_view status_text(Status status) {
  switch (status) {
    case Status::kOk:
      return "done";
    case Status::kOutOfMemory:
      return "memory for an output was refused";
    case Status::kBadIndex:
      return "an index points outside what it indexes";
    case Status::kBadShape:
      return "a result has another type or shape than was inferred";
    case Status::kCancelled:
      return "the run was cancelled";
    case Status::kKernelFailed:
      return "the kernel failed";
  }
  return {};
}

namespace {

/// Copied beforehand where it may become an element of a container.
constexpr int64_t kCopiedElement = int64_t{1} << 20;

/// True when the tensor's bytes are among those of one of the tensors.
bool lies_in(const Tensor& t, std::span<const Tensor> tensors) {
  const auto* first = static_cast<const char*>(t.data());
  return t.nbytes() > 0 && std::any_of(tensors.begin(), tensors.end(), [&](const Tensor& other) {
           if (!other.defined() || other.is_container() || other.dtype() == DType::kString) return false;
           const auto* begin = static_cast<const char*>(other.data());
           return first >= begin && first < begin + other.nbytes();
         });
}

Tensor copy_of(const Tensor& t) {
  Tensor copy = Tensor::allocate(t.dtype(), t.shape());
  std::memcpy(copy.mutable_data(), t.data(), t.nbytes());
  return copy;
}

/// How many elements at the beginning are those of an argument, whose list this shares: those are kept
/// already.
size_t elements_of_arguments(std::span<const Tensor> elements, std::span<const Tensor> arguments) {
  size_t shared = 0;
  for (const Tensor& a : arguments) {
    if (!a.defined() || !a.is_container()) continue;
    const std::span<const Tensor> given = a.elements();
    // What an optional holds, too.
    if (a.dtype() == DType::kOptional && !given.empty())
      shared = std::max(shared, elements_of_arguments(elements, given));
    const std::less_equal<const Tensor*> ordered;
    if (!given.empty() && !elements.empty() && ordered(given.data(), elements.data()) &&
        ordered(elements.data(), &given.back()))
      shared = std::max(shared, std::min<size_t>(elements.size(),
                                                 static_cast<size_t>(&given.back() - elements.data()) + 1));
  }
  return shared;
}

/// A result that outlives the step: what lies in the memory of a lent argument is copied, for that memory
/// gets other uses.
Tensor kept(const Tensor& t, std::span<const Tensor> lent, std::span<const Tensor> arguments) {
  if (lent.empty() || !t.defined() || t.dtype() == DType::kString) return t;
  if (!t.is_container()) return lies_in(t, lent) ? copy_of(t) : t;
  const std::span<const Tensor> all = t.elements();
  const std::span<const Tensor> added = all.subspan(elements_of_arguments(all, arguments));
  if (std::all_of(added.begin(), added.end(), [&](const Tensor& e) {
        return !e.defined() || kept(e, lent, arguments).shares_storage(e);
      }))
    return t;
  std::vector<Tensor> elements;
  for (const Tensor& e : all) elements.push_back(kept(e, lent, arguments));
  if (t.dtype() == DType::kSequence) return Tensor::sequence(std::move(elements));
  if (t.dtype() == DType::kOptional) return Tensor::optional(std::move(elements.at(0)));
  return Tensor::map(std::move(elements.at(0)), std::move(elements.at(1)));
}

/// Notes an argument whose memory gets other uses after the step. A small one that may become an element of a
/// sequence (`may_be_kept`) is copied instead, so that the list need not be made anew.
void lend(Tensor& argument, bool may_be_kept, std::vector<Tensor>& lent) {
  if (!argument.defined() || argument.dtype() == DType::kString) return;
  if (may_be_kept && !argument.is_container() && static_cast<int64_t>(argument.nbytes()) <= kCopiedElement)
    argument = copy_of(argument);
  else
    lent.push_back(argument);
}

/// What a result has otherwise than the plan says; empty: nothing.
std::string difference_to_plan(const Tensor& result, const PlanValue& v) {
  if (result.dtype() == v.dtype && result.shape() == v.shape) return {};
  return fmt::format("'{}' came out as {}{} instead of {}{}", v.name, dtype_name(result.dtype()),
                     result.shape().str(), dtype_name(v.dtype), v.shape.str());
}

/// Brings elements of `width` bytes from another layout into row-major order.
void to_row_major(const char* from, size_t width, const Shape& shape, Layout layout, char* to) {
  const int64_t channels = shape[1], inner = shape.numel(2, shape.size());
  const int64_t block = layout.is_channels_last() ? channels : layout.block;
  const int64_t blocks = (channels + block - 1) / block;
  for (int64_t n = 0; n < shape[0]; ++n)
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t i = 0; i < inner; ++i, to += width) {
        const int64_t place = ((n * blocks + c / block) * inner + i) * block + c % block;
        std::memcpy(to, from + static_cast<size_t>(place) * width, width);
      }
}

/// Takes the time of a step for the profile, the trace, or both, which then say the same.
class StepClock {
 public:
  /// `clock`: that of the profile; null: there is none.
  explicit StepClock(const std::function<double()>* clock) : clock_(clock) {
    if (trace::is_on()) begin_ = trace::now();
    if (clock_ != nullptr) start_ = (*clock_)();
  }
  /// The seconds by the profile's clock.
  double ended(const Step& step) const noexcept {
    const double seconds = clock_ != nullptr ? (*clock_)() - start_ : 0;
    if (begin_ == 0) return seconds;
    const int64_t end = clock_ != nullptr ? begin_ + std::llround(seconds * 1e9) : trace::now();
    try {
      trace::add(trace::Kind::kStep, step_name(step), step.tactic, begin_, end);
    } catch (const std::exception&) {
      // Without memory for it the step is not noted.
    }
    return seconds;
  }

 private:
  const std::function<double()>* clock_;
  int64_t begin_ = 0;
  double start_ = 0;
};

}  // namespace

/// One step, ready to run.
struct Context::Call {
  std::unique_ptr<Kernel> kernel;
  std::unique_ptr<TensorKernel> tensor_kernel;
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
  void* scratch = nullptr;
  std::vector<size_t> acquired, finished, released;  // outputs of the model before, after and after this step
  std::vector<int32_t> dropped;                      // tensors that no later step reads
};

Context::Context(std::shared_ptr<const Plan> plan, const KernelLookup& lookup, NetworkSource& networks,
                 std::shared_ptr<ThreadPool> pool)
    : plan_(std::move(plan)), networks_(networks), pool_(std::move(pool)) {
  input_arguments_.resize(plan_->inputs.size());
  output_arguments_.resize(plan_->outputs.size());
  tensors_.resize(plan_->values.size());
  make_kernels(lookup);
  for (size_t i = 0; i < plan_->steps.size(); ++i) bind_call(i);
  schedule_outputs();
}

Context::~Context() = default;

void Context::bind_argument(int32_t id, const void** place) {
  *place = nullptr;
  if (id < 0) return;
  const PlanValue& v = plan_->values[static_cast<size_t>(id)];
  switch (v.storage) {
    case Storage::kArena:
      arena_arguments_.push_back({place, v.offset});
      break;
    case Storage::kConstant: {
      const Tensor& t = plan_->constants[static_cast<size_t>(v.slot)].tensor;
      *place = t.dtype() == DType::kString ? nullptr : static_cast<const char*>(t.data()) + v.offset;
      break;
    }
    case Storage::kInput:
      // Sequences and the like are only ever taken as whole tensors.
      if (v.has_shape) input_arguments_[static_cast<size_t>(v.slot)].push_back({place, v.offset});
      break;
    case Storage::kOutput:
      output_arguments_[static_cast<size_t>(v.slot)].push_back({place, v.offset});
      break;
    case Storage::kTensor:
    case Storage::kUnused:
      break;
  }
}

/// Whole tensors are row-major, and as large as their elements.
void Context::check_tensor_operands(const Step& step) const {
  for (const auto* list : {&step.inputs, &step.outputs})
    for (const int32_t id : *list) {
      if (id < 0) continue;
      const PlanValue& v = plan_->values[static_cast<size_t>(id)];
      require(v.layout.is_row(), ErrorCode::kInvalidModel,
              "the plan is damaged: a step on whole tensors has '{}' in {}", v.name, v.layout.str());
    }
}

/// oneDNN writes code for each primitive, so that threads share the work. What others have written, and what
/// may ask for networks, makes its kernels on this thread.
void Context::make_kernels(const KernelLookup& lookup) {
  const size_t steps = plan_->steps.size();
  std::vector<const KernelFactory*> factories;
  for (const Step& step : plan_->steps) {
    factories.push_back(lookup(step.tactic));
    require(factories.back() != nullptr, ErrorCode::kUnsupported, "this build has no tactic named '{}'",
            step.tactic);
    calls_.push_back(std::make_unique<Call>());
  }
  const auto make = [&](size_t i) {
    const Step& step = plan_->steps[i];
    with_context([&] { return fmt::format("in step {} ({})", i, step.tactic); },
                 [&] {
                   if (factories[i]->makes_kernels()) {
                     calls_[i]->kernel = factories[i]->make(*plan_, step);
                   } else {
                     check_tensor_operands(step);
                     calls_[i]->tensor_kernel = factories[i]->create_tensor(*plan_, step, networks_);
                   }
                 });
  };
  const PoolScope scope(pool_);
  const auto lanes = static_cast<size_t>(thread_count());
  parallel_for(static_cast<int64_t>(lanes), 1, [&](int64_t first, int64_t last) {
    for (auto lane = static_cast<size_t>(first); lane < static_cast<size_t>(last); ++lane)
      for (size_t i = lane; i < steps; i += lanes)
        if (factories[i]->create != nullptr) make(i);
  });
  for (size_t i = 0; i < steps; ++i)
    if (factories[i]->create == nullptr) make(i);
}

void Context::bind_call(size_t index) {
  const Step& step = plan_->steps[index];
  Call& call = *calls_[index];
  call.inputs.resize(step.inputs.size());
  call.outputs.resize(step.outputs.size());
  for (size_t i = 0; i < step.inputs.size(); ++i) bind_argument(step.inputs[i], &call.inputs[i]);
  for (size_t i = 0; i < step.outputs.size(); ++i)
    bind_argument(step.outputs[i], const_cast<const void**>(&call.outputs[i]));
  if (step.scratch_bytes > 0)
    arena_arguments_.push_back({const_cast<const void**>(&call.scratch), step.scratch_offset});
}

void Context::schedule_outputs() {
  const auto unset = calls_.size();
  struct Use {
    size_t first_write, last_write, last_read;
  };
  std::vector<Use> uses(plan_->outputs.size(), {unset, unset, unset});
  std::vector<size_t> last_use(plan_->values.size(), unset), written(plan_->values.size(), unset);
  for (size_t s = 0; s < plan_->steps.size(); ++s) {
    const auto visit = [&](int32_t id, bool writes) {
      if (id < 0) return;
      last_use[static_cast<size_t>(id)] = s;
      if (writes) written[static_cast<size_t>(id)] = s;
      const PlanValue& v = plan_->values[static_cast<size_t>(id)];
      if (v.storage != Storage::kOutput) return;
      Use& use = uses[static_cast<size_t>(v.slot)];
      if (writes) {
        if (use.first_write == unset) use.first_write = s;
        use.last_write = s;
      }
      use.last_read = s;
    };
    for (const int32_t id : plan_->steps[s].inputs) visit(id, false);
    for (const int32_t id : plan_->steps[s].outputs) visit(id, true);
  }
  for (size_t i = 0; i < uses.size(); ++i) {
    const int32_t id = plan_->outputs[i];
    if (plan_->values[static_cast<size_t>(id)].storage == Storage::kTensor) {
      require(written[static_cast<size_t>(id)] != unset, ErrorCode::kInternal, "no step gives output {}", i);
      calls_[written[static_cast<size_t>(id)]]->finished.push_back(i);
      continue;
    }
    require(uses[i].first_write != unset, ErrorCode::kInternal, "no step writes output {}", i);
    calls_[uses[i].first_write]->acquired.push_back(i);
    calls_[uses[i].last_write]->finished.push_back(i);
    calls_[uses[i].last_read]->released.push_back(i);
  }
  for (size_t id = 0; id < last_use.size(); ++id)
    if (plan_->values[id].storage == Storage::kTensor && last_use[id] != unset)
      calls_[last_use[id]]->dropped.push_back(static_cast<int32_t>(id));
}

void Context::set_memory(char* memory) {
  memory_ = memory;
  for (const Argument& a : arena_arguments_) *a.place = memory + a.offset;
}

Tensor Context::observed(size_t step, size_t output) const {
  const int32_t id = plan_->steps[step].outputs[output];
  if (id < 0) return {};
  const PlanValue& v = plan_->values[static_cast<size_t>(id)];
  if (v.storage == Storage::kTensor) return tensors_[static_cast<size_t>(id)];
  if (v.storage == Storage::kUnused) return {};
  Tensor t = Tensor::allocate(v.dtype, v.shape);
  const void* from = calls_[step]->outputs[output];
  if (!v.layout.is_row())
    to_row_major(static_cast<const char*>(from), storage_bytes(v.dtype, 1), v.shape, v.layout,
                 static_cast<char*>(t.mutable_data()));
  else if (t.nbytes() > 0)
    std::memcpy(t.mutable_data(), from, t.nbytes());
  return t;
}

bool Context::acquire_outputs(const Call& call, OutputBinding& outputs) noexcept {
  for (const size_t i : call.acquired) {
    const PlanValue& v = plan_->values[static_cast<size_t>(plan_->outputs[i])];
    const auto* memory = static_cast<const char*>(outputs.memory(i, v.bytes()));
    if (memory == nullptr) return false;
    for (const Argument& a : output_arguments_[i]) *a.place = memory + a.offset;
  }
  return true;
}

Tensor Context::tensor_of(int32_t id, std::span<const Tensor> inputs, const void* place) const {
  if (id < 0) return {};
  const PlanValue& v = plan_->values[static_cast<size_t>(id)];
  if (v.storage == Storage::kTensor) return tensors_[static_cast<size_t>(id)];
  if (v.storage == Storage::kConstant && v.offset == 0 &&
      plan_->constants[static_cast<size_t>(v.slot)].tensor.numel() == v.shape.numel())
    return plan_->constants[static_cast<size_t>(v.slot)].tensor.reshaped(v.shape);
  if (v.storage == Storage::kInput && !v.has_shape) return inputs[static_cast<size_t>(v.slot)];
  if (v.storage == Storage::kInput && v.offset == 0 && !inputs.empty() &&
      inputs[static_cast<size_t>(v.slot)].numel() == v.shape.numel())
    return inputs[static_cast<size_t>(v.slot)].reshaped(v.shape);
  return Tensor::view(v.dtype, v.shape, place, nullptr);
}

/// Whether the value has memory of its own, which goes with the tensor.
bool Context::is_kept(int32_t id) const {
  return id < 0 || plan_->values[static_cast<size_t>(id)].storage == Storage::kTensor;
}

Status Context::run_tensors(size_t index, std::span<const Tensor> inputs) noexcept {
  const Step& step = plan_->steps[index];
  Call& call = *calls_[index];
  try {
    std::vector<Tensor> arguments, lent, results;
    for (size_t i = 0; i < step.inputs.size(); ++i)
      arguments.push_back(tensor_of(step.inputs[i], inputs, call.inputs[i]));
    const bool has_container =
        std::any_of(arguments.begin(), arguments.end(), [](const Tensor& t) { return t.is_container(); });
    for (size_t i = 0; i < arguments.size(); ++i)
      if (!is_kept(step.inputs[i])) lend(arguments[i], has_container, lent);
    const Status status = call.tensor_kernel->run(arguments, results, error_);
    if (status != Status::kOk) return status;
    for (size_t i = 0; i < step.outputs.size(); ++i) {
      if (step.outputs[i] < 0) continue;
      const auto id = static_cast<size_t>(step.outputs[i]);
      const PlanValue& v = plan_->values[id];
      if (i >= results.size() || !results[i].defined()) return Status::kBadShape;
      if (v.storage == Storage::kTensor) {
        tensors_[id] = kept(results[i], lent, arguments);
        continue;
      }
      if (std::string difference = difference_to_plan(results[i], v); !difference.empty()) {
        error_ = std::move(difference);
        return Status::kBadShape;
      }
      if (v.bytes() > 0 && v.storage != Storage::kUnused)
        std::memcpy(call.outputs[i], results[i].data(), v.bytes());
    }
    return Status::kOk;
  } catch (const std::exception& e) {
    error_ = text_of(e);
    return Status::kKernelFailed;
  }
}

void Context::bind_input(size_t i, const void* memory) noexcept {
  for (const Argument& a : input_arguments_[i]) *a.place = static_cast<const char*>(memory) + a.offset;
}

Status Context::run(std::span<const Tensor> inputs, OutputBinding& outputs) noexcept {
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!input_arguments_[i].empty()) bind_input(i, inputs[i].data());
  return run_steps(inputs, outputs);
}

void Context::note_complaint(const Call& call) noexcept {
  try {
    const auto* kernel = dynamic_cast<const ComplainingKernel*>(call.kernel.get());
    if (kernel != nullptr) error_ = kernel->complaint({call.inputs, call.outputs, call.scratch});
  } catch (const std::exception&) {
    error_.clear();
  }
}

Status Context::run_steps(std::span<const Tensor> inputs, OutputBinding& outputs) noexcept {
  const PoolScope scope(pool_);
  error_.clear();
  for (size_t s = 0; s < calls_.size(); ++s) {
    Call& call = *calls_[s];
    if (!call.acquired.empty() && !acquire_outputs(call, outputs)) {
      failed_step_ = s;
      return Status::kOutOfMemory;
    }
    const StepClock clock(profile_ != nullptr ? &clock_ : nullptr);
    const Status status = call.kernel != nullptr ? call.kernel->run({call.inputs, call.outputs, call.scratch})
                                                 : run_tensors(s, inputs);
    if (const double seconds = clock.ended(plan_->steps[s]); profile_ != nullptr) (*profile_)[s] += seconds;
    if (status != Status::kOk && call.kernel != nullptr) note_complaint(call);
    if (status != Status::kOk || (cancel_ != nullptr && cancel_->load(std::memory_order_relaxed)) ||
        is_interrupted()) {
      failed_step_ = s;
      return status != Status::kOk ? status : Status::kCancelled;
    }
    if (observer_) observer_(s);
    for (const size_t i : call.finished) {
      const auto id = static_cast<size_t>(plan_->outputs[i]);
      if (plan_->values[id].storage == Storage::kTensor)
        outputs.computed(i, tensors_[id]);
      else
        outputs.finished(i);
    }
    for (const size_t i : call.released) outputs.released(i);
    for (const int32_t id : call.dropped) tensors_[static_cast<size_t>(id)] = {};
  }
  return Status::kOk;
}

Error run_error(const Context& context, Status status) {
  const Step& step = context.plan().steps[context.failed_step()];
  Error error(status == Status::kOutOfMemory ? ErrorCode::kResource : ErrorCode::kInvalidModel,
              context.error().empty() ? std::string(status_text(status)) : context.error());
  // The plain evaluation names the node itself, in the reference's words.
  if (step.tactic != "evaluate" || context.error().empty())
    error.add_context(fmt::format("in the engine's step {} ({}) for {}", context.failed_step(), step.tactic,
                                  step_name(step)));
  return error;
}

}  // namespace assay::engine
