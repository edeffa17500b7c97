// One line on a terminal that says how far a long piece of work is.
#pragma once

#include <mutex>
#include <string>

#include "assay/builder.h"

namespace assay::bench {

/// Writes to standard output where that is a terminal that can go back in a line, else nothing. The line goes
/// when the object does. May be used from any thread.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// In place of what is there.
  void show(const std::string& text);
  void clear();

 private:
  std::mutex mutex_;
  bool is_on_ = false, has_color_ = false;
  size_t shown_ = 0;  ///< columns
};

/// "timing tactics: 12 of 53, about 4 s left, 30 times from the cache: dnnl_conv, direct_conv"; what is not
/// known is left out. `seconds` have passed since this phase began.
std::string progress_text(const BuildProgress& progress, double seconds);

}  // namespace assay::bench
