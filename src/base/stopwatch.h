// Wall time that can be paused.
#pragma once

#include <chrono>

namespace assay {

/// Measures wall time, leaving out what is spent between pause() and resume().
class Stopwatch {
 public:
  Stopwatch() { resume(); }
  void pause() { total_ += now() - started_; }
  void resume() { started_ = now(); }
  /// Up to the last pause().
  double seconds() const { return total_; }

 private:
  static double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }

  double started_ = 0;
  double total_ = 0;
};

}  // namespace assay
