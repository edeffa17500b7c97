// The results of a benchmark as lines of the log, and its progress on a terminal.
#pragma once

#include <mutex>
#include <string>

#include "bench/bench.h"

namespace assay::cli {

/// Writes to standard output if that is a terminal with carriage return, else nothing. The destructor erases
/// the line. Thread-safe.
class BenchProgress {
 public:
  BenchProgress();
  ~BenchProgress() { clear(); }
  BenchProgress(const BenchProgress&) = delete;
  BenchProgress& operator=(const BenchProgress&) = delete;

  /// Replaces the current line.
  void show(const std::string& text);
  void clear();

 private:
  std::mutex mutex_;
  bool is_on_ = false, has_color_ = false;
  size_t shown_ = 0;  ///< columns
};

class BenchText final : public bench::Observer {
 public:
  void on_line(const std::string& line) override;
  void on_warning(const std::string& sentence) override;
  void on_progress(const std::string& text) override;

 private:
  BenchProgress progress_;
};

}  // namespace assay::cli
