// `assay bench`: prepares backends, measures them and reports the results.
#pragma once

#include <string>

#include "bench/options.h"
#include "bench/result.h"

namespace assay::bench {

/// Observes a benchmark: receives lines, as in trtexec.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void on_line(const std::string& /*line*/) {}
  virtual void on_warning(const std::string& /*sentence*/) {}
  /// Progress of a long operation, replacing the last
  /// message; empty: it is over. From any thread.
  virtual void on_progress(const std::string& /*text*/) {}
};

/// Carries out all requests of the options, including files. `command`: the command line. Throws Error.
Result run_bench(const Options& options, const std::string& command, Observer& observer);

}  // namespace assay::bench
