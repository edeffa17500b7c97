// `assay bench`: makes backends ready, measures them and tells what came out.
#pragma once

#include <string>

#include "bench/options.h"
#include "bench/result.h"

namespace assay::bench {

/// Told of a benchmark while it goes on: in lines, as trtexec tells of its own.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void on_line(const std::string& /*line*/) {}
  virtual void on_warning(const std::string& /*sentence*/) {}
  /// How far a long piece of work is, in place of what was said of it before; empty: it is over. From any
  /// thread.
  virtual void on_progress(const std::string& /*text*/) {}
};

/// Does all that the options ask for, files included. `command` is the command line. Throws Error.
Result run_bench(const Options& options, const std::string& command, Observer& observer);

}  // namespace assay::bench
