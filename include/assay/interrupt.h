// Work that may take long, and may be ended from outside.
#pragma once

#include <functional>

#include "assay/error.h"

namespace ASSAY_API assay {

/// Thrown by work that an InterruptHook ended.
class Interrupted : public Error {
 public:
  Interrupted() : Error(ErrorCode::kInvalidArgument, "the work was interrupted") {}
};

/// While one lives, evaluations, folding, proofs, verdicts and sessions that this thread carries out ask
/// `wants_end` before each node or step (sessions of ONNX Runtime: some fifty times a second), and end with
/// Interrupted, an engine's run with Cancelled, once it says so. It is asked on this thread, must not throw,
/// and must go on saying so. The innermost hook of a thread counts. Contexts of engines have
/// ExecutionContext::cancel(), builds and whole runs their reports of progress.
class InterruptHook {
 public:
  explicit InterruptHook(std::function<bool()> wants_end);
  ~InterruptHook();
  InterruptHook(const InterruptHook&) = delete;
  InterruptHook& operator=(const InterruptHook&) = delete;

 private:
  friend bool has_interrupt_hook();
  friend bool is_interrupted();
  std::function<bool()> wants_end_;
  const InterruptHook* outer_;
};

/// While one lives, this thread has no hook: for work whose time is measured, which a hook changes.
class InterruptShield {
 public:
  InterruptShield();
  ~InterruptShield();
  InterruptShield(const InterruptShield&) = delete;
  InterruptShield& operator=(const InterruptShield&) = delete;

 private:
  const InterruptHook* hidden_;
};

/// This thread has a hook.
bool has_interrupt_hook();
/// It has one, which says that work is to end.
bool is_interrupted();
/// Throws Interrupted then.
void stop_if_interrupted();

}  // namespace assay
