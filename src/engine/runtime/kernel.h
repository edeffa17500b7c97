// What runs one step. Tactics provide kernels; the runtime knows them only through this interface and a
// look-up.
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

/// How a run or a step of it ended.
enum class Status : uint8_t {
  kOk,
  kOutOfMemory,
  kBadIndex,      ///< an index tensor points outside what it indexes
  kBadShape,      ///< a computed tensor has another type or shape than the plan says
  kCancelled,     ///< somebody wanted it to end
  kKernelFailed,  ///< the kernel's library or the plain evaluation refused
};
std::string_view status_text(Status status);

/// Memory of one call. Null where the step leaves an input or output out.
struct KernelArgs {
  std::span<const void* const> inputs;
  std::span<void* const> outputs;
  void* scratch = nullptr;
};

/// Runs a step whose values all have places in memory. Belongs to one context, so it may keep state between
/// calls.
class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual Status run(const KernelArgs& args) noexcept = 0;
};

/// Runs a step on whole tensors, for operators without a kernel of their own and for shapes not known before.
/// It may allocate.
class TensorKernel {
 public:
  virtual ~TensorKernel() = default;
  /// `inputs[i]` is undefined where the step leaves an input out. On failure the reason is put into `error`.
  virtual Status run(std::span<const Tensor> inputs, std::vector<Tensor>& outputs,
                     std::string& error) noexcept = 0;
};

class Context;

/// Runs one of a plan's networks, made ready for whatever shapes its inputs have.
class NetworkRunner {
 public:
  virtual ~NetworkRunner() = default;
  /// Throws Error.
  virtual std::vector<Tensor> run(std::span<const Tensor> inputs) = 0;
  /// What run() runs on these inputs, for runs in which the first `changing` of them hold something else.
  /// Null when its plan depends on what those hold. Stays until the next call. Throws Error.
  virtual Context* context_for(std::span<const Tensor> inputs, size_t changing) = 0;
};

/// Gives kernels their networks.
class NetworkSource {
 public:
  virtual ~NetworkSource() = default;
  /// Of the network's number in the plan. Throws Error.
  virtual std::unique_ptr<NetworkRunner> runner(int32_t network) = 0;
  /// The same for steps that only run it: those of one number share what is made ready.
  virtual std::unique_ptr<NetworkRunner> shared_runner(int32_t network) = 0;
};

/// Makes kernels with data of its own, for tactics from extension modules.
class KernelMaker {
 public:
  virtual ~KernelMaker() = default;
  /// As KernelFactory::create.
  virtual std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) const = 0;
};

/// How a tactic's kernels are made. Exactly one member is set. All throw Error when the step is not one
/// that the tactic can have made. A tensor kernel may keep what it gets from the source, which outlives it.
struct KernelFactory {
  std::unique_ptr<Kernel> (*create)(const Plan&, const Step&) = nullptr;
  std::unique_ptr<TensorKernel> (*create_tensor)(const Plan&, const Step&, NetworkSource&) = nullptr;
  const KernelMaker* maker = nullptr;

  /// Whether it makes kernels that work on memory.
  bool makes_kernels() const { return create != nullptr || maker != nullptr; }
  std::unique_ptr<Kernel> make(const Plan& plan, const Step& step) const {
    return maker != nullptr ? maker->create(plan, step) : create(plan, step);
  }
};

/// The factory of a tactic; null when the build has none of that name.
using KernelLookup = std::function<const KernelFactory*(std::string_view tactic)>;

}  // namespace assay::engine
