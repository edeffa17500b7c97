// Ctrl+C as a request to end in order.
#pragma once

#include "assay/interrupt.h"

namespace assay::cli {

/// For its lifetime the first SIGINT or SIGTERM ends the work of this thread that asks an InterruptHook;
/// another one, or five seconds later, ends the process. Signals that are ignored stay ignored. One at a
/// time.
class InterruptRequest {
 public:
  InterruptRequest();
  ~InterruptRequest();
  InterruptRequest(const InterruptRequest&) = delete;
  InterruptRequest& operator=(const InterruptRequest&) = delete;

  /// The work has ended, and what follows may take its time: the signal that came, or 0.
  int settle() const;
  /// Lets `signal` end the process, as it does without a request.
  void end_by(int signal) const;

 private:
  InterruptHook hook_;
};

}  // namespace assay::cli
