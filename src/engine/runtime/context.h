// Runs a plan. Many contexts may share one plan; each has its own memory and kernels.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "engine/plan/plan.h"
#include "engine/runtime/kernel.h"

namespace assay::engine {

/// Receives the outputs of a run. Every output gets either memory() and then finished(), or computed().
class OutputBinding {
 public:
  virtual ~OutputBinding() = default;
  /// Memory for output i, aligned to kAlignment, requested once in a run, before the first step that writes
  /// it. Null ends the run.
  virtual void* memory(size_t i, size_t bytes) noexcept = 0;
  /// Output i is final. Later steps may still read it.
  virtual void finished(size_t i) noexcept = 0;
  /// No later step reads output i.
  virtual void released(size_t i) noexcept = 0;
  /// Output i, whose shape is not known in the plan.
  virtual void computed(size_t i, const Tensor& tensor) noexcept = 0;
};

/// Not thread-safe. run() itself neither throws, locks nor allocates, as long as the plan has no tensor
/// kernels.
class Context {
 public:
  /// Runs on the threads of `pool`; null: only on the caller's. Throws Error when a step's tactic is unknown
  /// or refuses the step. `networks` must outlive it.
  Context(std::shared_ptr<const Plan> plan, const KernelLookup& lookup, NetworkSource& networks,
          std::shared_ptr<ThreadPool> pool);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const Plan& plan() const { return *plan_; }

  /// Memory of intermediate values: the plan's arena_bytes, at a multiple of kAlignment, not used otherwise
  /// during a run. Must be set before the first run.
  void set_memory(char* memory);
  const char* memory() const { return memory_; }

  /// `inputs` have the types and shapes of the plan's inputs; they must stay alive and unchanged during the
  /// call.
  Status run(std::span<const Tensor> inputs, OutputBinding& outputs) noexcept;
  /// The same for inputs with known shapes that are
  /// bound to memory individually; bindings persist.
  void bind_input(size_t i, const void* memory) noexcept;
  Status run_bound(OutputBinding& outputs) noexcept { return run_steps({}, outputs); }
  /// After a failed run: the failing step, and its message.
  size_t failed_step() const { return failed_step_; }
  const std::string& error() const { return error_; }

  /// While the flag is set, a run ends after its current step, with Status::kCancelled; null: never.
  void set_cancel_flag(const std::atomic<bool>* flag) { cancel_ = flag; }
  /// Called after each step with its number; null: none.
  void set_observer(std::function<void(size_t)> observer) { observer_ = std::move(observer); }
  /// A row-major copy of a step's output, valid while an observer is called for the step. Undefined when the
  /// step omits it.
  Tensor observed(size_t step, size_t output) const;

  /// Adds the seconds of every step, by the given clock,
  /// to `seconds`, one entry per step; null stops it.
  void set_profile(std::vector<double>* seconds, std::function<double()> clock) {
    profile_ = seconds;
    clock_ = std::move(clock);
  }

 private:
  struct Call;
  /// An argument that varies between runs: points into the memory of input or output `slot`.
  struct Argument {
    const void** place;
    int64_t offset;
  };
  void check_tensor_operands(const Step& step) const;
  void make_kernels(const KernelLookup& lookup);
  void bind_call(size_t step);
  void bind_argument(int32_t value, const void** place);
  void schedule_outputs();
  Status run_steps(std::span<const Tensor> inputs, OutputBinding& outputs) noexcept;
  bool acquire_outputs(const Call& call, OutputBinding& outputs) noexcept;
  Status run_tensors(size_t step, std::span<const Tensor> inputs) noexcept;
  bool is_kept(int32_t value) const;
  void note_complaint(const Call& call) noexcept;
  Tensor tensor_of(int32_t value, std::span<const Tensor> inputs, const void* place) const;

  std::shared_ptr<const Plan> plan_;
  NetworkSource& networks_;
  std::shared_ptr<ThreadPool> pool_;
  char* memory_ = nullptr;
  std::vector<std::unique_ptr<Call>> calls_;
  std::vector<std::vector<Argument>> input_arguments_, output_arguments_;
  std::vector<Argument> arena_arguments_;
  std::vector<Tensor> tensors_;  // of values with Storage::kTensor
  std::vector<double>* profile_ = nullptr;
  std::function<double()> clock_;
  const std::atomic<bool>* cancel_ = nullptr;
  std::function<void(size_t)> observer_;
  size_t failed_step_ = 0;
  std::string error_;
};

/// The error for this status of a run, with the failing step.
Error run_error(const Context& context, Status status);

}  // namespace assay::engine
