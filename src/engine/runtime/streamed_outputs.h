// Outputs of a run, each delivered as soon as it is final.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <vector>

#include "base/stopwatch.h"
#include "engine/runtime/context.h"
#include "engine/runtime/output_blocks.h"

namespace assay::engine {

/// Passes each output of a plan to a sink, whose time is not counted.
class StreamedOutputs final : public OutputBinding {
 public:
  using Sink = std::function<void(size_t output, Tensor value)>;

  /// All must outlive it.
  StreamedOutputs(const Plan& plan, OutputBlocks& blocks, const Sink& sink, Stopwatch& watch)
      : plan_(plan), pool_(blocks), sink_(sink), watch_(watch), blocks_(plan.outputs.size()) {}

  void* memory(size_t i, size_t bytes) noexcept override;
  void finished(size_t i) noexcept override;
  void released(size_t i) noexcept override { blocks_[i].reset(); }
  void computed(size_t i, const Tensor& tensor) noexcept override;
  /// The exception of the sink, if any; it is then not called again.
  const std::exception_ptr& failure() const { return failure_; }

 private:
  template <typename Make>
  void deliver(size_t i, Make make) noexcept;

  const Plan& plan_;
  OutputBlocks& pool_;
  const Sink& sink_;
  Stopwatch& watch_;
  std::vector<std::shared_ptr<Arena>> blocks_;
  std::exception_ptr failure_;
};

}  // namespace assay::engine
