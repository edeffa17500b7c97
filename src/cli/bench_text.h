// What a benchmark tells as lines of the log, and on a terminal how far it is.
#pragma once

#include <mutex>
#include <string>

#include "bench/bench.h"

namespace assay::cli {

/// Writes to standard output where that is a terminal that can go back in a line, else nothing. The line goes
/// when the object does. May be used from any thread.
class BenchProgress {
 public:
  BenchProgress();
  ~BenchProgress() { clear(); }
  BenchProgress(const BenchProgress&) = delete;
  BenchProgress& operator=(const BenchProgress&) = delete;

  /// In place of what is there.
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
