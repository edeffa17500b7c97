// Running saved plans and nothing else, as TensorRT's lean runtime does: a library of its own,
// libassay_runtime (assay::runtime for CMake), that holds kernels, and neither passes nor a planner nor the
// operators' own evaluation. What it cannot run it refuses when the plan is loaded; runtime.h, in the whole
// library, runs every plan.
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

/// A plan made ready to run, one run at a time: not thread-safe.
class LeanEngine {
 public:
  /// Reads a file that Engine::save() wrote; weights stay in it. `threads`: 0: as many as the process may use
  /// processors. Throws Error naming the file: kNotFound, kIo; kInvalidModel for a file that is damaged or no
  /// plan; kUnsupported for a plan of another version or machine, one without weights, and one with steps
  /// that only the whole library runs, which are named with their tactics.
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
    std::vector<int64_t> dims;  ///< as the network declares them; -1: open
  };
  /// Of the network.
  const std::string& name() const;
  const std::vector<Io>& inputs() const;
  const std::vector<Io>& outputs() const;

  /// In the order of inputs() and outputs(). Throws Error: kInvalidArgument naming the input, for another
  /// number of them, another type, or shapes that the file holds no plan for; kInvalidModel when a step
  /// refuses what it is given.
  std::vector<Tensor> infer(std::span<const Tensor> inputs);

 private:
  struct State;
  explicit LeanEngine(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace assay
