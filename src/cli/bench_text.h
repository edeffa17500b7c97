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
  /// trtexec's lines are shown, or, where a summary follows, only at -v.
  enum class Lines : uint8_t { kShown, kVerbose };
  explicit BenchText(Lines lines = Lines::kShown) : lines_(lines) {}

  void on_line(const std::string& line) override;
  void on_warning(const std::string& sentence) override;
  void on_progress(const std::string& text) override;

 private:
  Lines lines_;
  BenchProgress progress_;
};

/// The lines of a summary: what ran, where, how steadily; then a table with a row for each backend and shape.
void print_bench_summary(const bench::Options& options, const bench::Result& result);

}  // namespace assay::cli
