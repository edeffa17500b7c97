// Runs jobs in child processes, so that a job that crashes or hangs does not affect others.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace assay {

struct IsolatedJobOptions {
  int workers = 1;             ///< child processes at a time
  double timeout_seconds = 0;  ///< a job that takes longer is killed; 0: no limit
};

/// The result of one job.
struct IsolatedJobResult {
  size_t job = 0;
  std::string text;   ///< the work's result
  std::string death;  ///< not empty when it died: `was killed by signal 11 (Segmentation fault)`
};

/// Calls work(0), ..., work(jobs - 1), each once, in child processes that are forked and receive one job
/// after the other; calls `done` in this process with each result, in the order in which they end. A
/// child that dies is replaced; a child ends with this process. The children share what is left of the memory
/// budget (memory_limit.h). An exception of `work` becomes the text `error: ...`. The caller must be
/// single-threaded. Throws Error (kIo) when no process can be created.
void run_isolated(size_t jobs, const IsolatedJobOptions& options,
                  const std::function<std::string(size_t)>& work,
                  const std::function<void(const IsolatedJobResult&)>& done);

}  // namespace assay
