// How far long work is, on a terminal.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace assay {

/// A line on stderr that is written over and over. Where stderr is not a terminal, nothing is shown. Not for
/// several threads.
class ProgressLine {
 public:
  ProgressLine();
  /// Takes the line away.
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  bool is_shown() const { return is_terminal_; }
  /// Shows the text, cut to the width of the terminal; at most ten times a second.
  void show(std::string_view text);
  void clear();

 private:
  bool is_terminal_;
  bool is_dirty_ = false;
  std::chrono::steady_clock::time_point last_{};
};

}  // namespace assay
