// --trace: what a command and the processes that it starts do in time, as a file.
#pragma once

#include <string>
#include <vector>

#include "base/time_trace.h"
#include "cli/args.h"

namespace assay::cli {

void add_trace_option(ArgParser& parser);
/// Empty: no trace is wanted.
std::string trace_path(const ParsedArgs& args);

/// Notes from here on what this process does.
class TraceRecording {
 public:
  /// `name`: of the process in the trace. Throws Error (kIo) where there is no room for what children leave.
  explicit TraceRecording(std::string name);
  ~TraceRecording();
  TraceRecording(const TraceRecording&) = delete;
  TraceRecording& operator=(const TraceRecording&) = delete;

  /// Ends it, and returns this process and those that it started.
  const std::vector<trace::Process>& processes();
  /// Writes the file, in the form that its ending says. Throws Error (kIo).
  void save(const std::string& path);

 private:
  std::string folder_;
  bool has_ended_ = false;
  std::vector<trace::Process> processes_;
};

}  // namespace assay::cli
