// Ctrl+C as an event to wait for.
#pragma once

#include <csignal>

#include "base/descriptor.h"

namespace assay {

/// For its lifetime SIGINT makes fd() readable instead of ending the process, for a command that runs until
/// Ctrl+C. If SIGINT is ignored, as in the background of a script, it stays ignored. One at a time.
class InterruptPipe {
 public:
  /// Throws Error (kIo) when the process may open no more files.
  InterruptPipe();
  ~InterruptPipe();
  InterruptPipe(const InterruptPipe&) = delete;
  InterruptPipe& operator=(const InterruptPipe&) = delete;

  int fd() const { return read_end_.get(); }

 private:
  Descriptor read_end_, write_end_;
  struct sigaction old_ {};
};

}  // namespace assay
