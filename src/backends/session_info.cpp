#include "backends/session_info.h"

#include <chrono>

namespace assay {
namespace {
double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
}  // namespace

Stopwatch::Stopwatch() { resume(); }
void Stopwatch::pause() { total_ += now() - started_; }
void Stopwatch::resume() { started_ = now(); }

}  // namespace assay
