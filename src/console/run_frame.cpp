#include "console/run_frame.h"

#include "base/log.h"
#include "run/observer.h"

namespace assay {

void print_begin(const std::string& command) { log::start("RUNNING | Command: {}", command); }

void print_end(int status, double seconds, const std::string& command) {
  if (status == static_cast<int>(RunOutcome::kPassed))
    log::finish("PASSED | Runtime: {:.3f}s | Command: {}", seconds, command);
  else if (status == static_cast<int>(RunOutcome::kUnclear))
    log::warning("UNCLEAR | Runtime: {:.3f}s | Command: {}", seconds, command);
  else
    log::error("FAILED | Runtime: {:.3f}s | Command: {}", seconds, command);
}

}  // namespace assay
