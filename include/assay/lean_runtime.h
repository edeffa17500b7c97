// A runtime that only runs saved plans, as TensorRT's lean runtime does. It is a separate library,
// libassay_runtime (assay::runtime in CMake), with kernels but without passes, planner and reference
// evaluation. It refuses plans that it cannot run when they are loaded; runtime.h, in the full library, runs
// every plan.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/api.h"
#include "assay/tensor.h"

namespace ASSAY_API assay {

/// A plan that is ready to run, one run at a time; not thread-safe.
class LeanEngine {
 public:
  /// Reads a file that Engine::save() wrote; weights stay in it. `threads`: 0: as many as processors that the
  /// process may use. Throws Error naming the file: kNotFound, kIo; kInvalidModel for a file that is damaged
  /// or not a plan; kUnsupported for a plan of another version or machine, one without weights, and one with
  /// steps that only the full library runs, which are named with their tactics.
  static std::unique_ptr<LeanEngine> load(const std::string& path, int threads = 0);
  /// The same for bytes. They are copied unless they begin at a multiple of 64 bytes and `owner` keeps them
  /// alive.
  static std::unique_ptr<LeanEngine> parse(std::string_view plan, std::shared_ptr<const void> owner = nullptr,
                                           int threads = 0);
  ~LeanEngine();
  LeanEngine(const LeanEngine&) = delete;
  LeanEngine& operator=(const LeanEngine&) = delete;

  struct Io {
    std::string name;
    DType dtype = DType::kUndefined;
    std::vector<int64_t> dims;  ///< as declared by the network; -1: open
  };
  /// Inputs and outputs of the network.
  const std::string& name() const;
  const std::vector<Io>& inputs() const;
  const std::vector<Io>& outputs() const;

  /// In the order of inputs() and outputs(). Throws Error: kInvalidArgument naming the input, for another
  /// number of them, another type, or shapes that the file has no plan for; kInvalidModel when a step rejects
  /// its input.
  std::vector<Tensor> infer(std::span<const Tensor> inputs);

 private:
  struct State;
  explicit LeanEngine(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace assay
