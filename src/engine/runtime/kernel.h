// The interface of kernels, which run one step. Tactics provide them; the runtime uses them only through this
// interface and a lookup.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/tensor.h"
#include "engine/plan/plan.h"

namespace assay::engine {

/// The result of a run or a step.
enum class Status : uint8_t {
  kOk,
  kOutOfMemory,
  kBadIndex,      ///< an index tensor has indices out of range
  kBadShape,      ///< a computed tensor's type or shape differs from the plan
  kCancelled,     ///< cancelled on request
  kKernelFailed,  ///< the kernel's library or the reference evaluator refused
};
std::string_view status_text(Status status);

/// Memory of one call. Null for omitted inputs and outputs.
struct KernelArgs {
  std::span<const void* const> inputs;
  std::span<void* const> outputs;
  void* scratch = nullptr;
};

/// Runs a step whose values are all in planned memory. Belongs to one context, so it may keep state between
/// calls.
class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual Status run(const KernelArgs& args) noexcept = 0;
};

/// Runs a step on whole tensors, for operators without a kernel and for shapes not known in advance. It may
/// allocate.
class TensorKernel {
 public:
  virtual ~TensorKernel() = default;
  /// `inputs[i]` is undefined for an omitted input. On failure `error` receives the reason.
  virtual Status run(std::span<const Tensor> inputs, std::vector<Tensor>& outputs,
                     std::string& error) noexcept = 0;
};

class Context;

/// Runs one of a plan's networks, prepared for the shapes of its inputs.
class NetworkRunner {
 public:
  virtual ~NetworkRunner() = default;
  /// Throws Error.
  virtual std::vector<Tensor> run(std::span<const Tensor> inputs) = 0;
  /// The context that run() uses on these inputs, for runs with other elements in the first `changing` of
  /// them. Null when its plan depends on those elements. Valid until the next call. Throws Error.
  virtual Context* context_for(std::span<const Tensor> inputs, size_t changing) = 0;
};

/// Gives kernels their networks.
class NetworkSource {
 public:
  virtual ~NetworkSource() = default;
  /// The runner of the plan's network with this number. Throws Error.
  virtual std::unique_ptr<NetworkRunner> runner(int32_t network) = 0;
  /// The same for steps that only run it: those of one number share the preparation.
  virtual std::unique_ptr<NetworkRunner> shared_runner(int32_t network) = 0;
};

/// Creates kernels with its own data, for tactics from extension modules.
class KernelMaker {
 public:
  virtual ~KernelMaker() = default;
  /// Like KernelFactory::create.
  virtual std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) const = 0;
};

/// Creates a tactic's kernels. Exactly one member is set. All throw Error when the tactic cannot have
/// proposed the step. A tensor kernel may keep references to the source, which outlives it.
struct KernelFactory {
  std::unique_ptr<Kernel> (*create)(const Plan&, const Step&) = nullptr;
  std::unique_ptr<TensorKernel> (*create_tensor)(const Plan&, const Step&, NetworkSource&) = nullptr;
  const KernelMaker* maker = nullptr;

  /// True when it creates kernels that work on memory.
  bool makes_kernels() const { return create != nullptr || maker != nullptr; }
  std::unique_ptr<Kernel> make(const Plan& plan, const Step& step) const {
    return maker != nullptr ? maker->create(plan, step) : create(plan, step);
  }
};

/// The factory of a tactic; null when the build has none of that name.
using KernelLookup = std::function<const KernelFactory*(std::string_view tactic)>;

}  // namespace assay::engine
