// Progress of long work, if the log goes to a terminal.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace assay {

/// A status line that the log's output overwrites.
/// Without a terminal nothing is shown. Not thread-safe.
class ProgressLine {
 public:
  ProgressLine();
  /// Removes the line.
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  bool is_shown() const { return is_shown_; }
  /// Shows the text, cut to the terminal's width; at most ten times a second.
  void show(std::string_view text);
  void clear();

 private:
  bool is_shown_;
  bool is_dirty_ = false;
  std::chrono::steady_clock::time_point last_{};
};

}  // namespace assay
