// Runs another program as a child process that never outlives this one.
#pragma once

#include <sys/types.h>

#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/descriptor.h"

namespace assay::script {

/// The descriptor itself, or a duplicate if it has the number of stdin, stdout or stderr because this process
/// was started without them: a child would confuse it with them.
Descriptor above_standard(int fd);

/// Both ends, closed on exec. Throws Error (kIo) when it cannot be created.
struct Pipe {
  Pipe();
  Descriptor reading, writing;
};

/// The process runs from construction on. It is killed when this process ends, however it ends.
class Process {
 public:
  /// `arguments`: the program's path and its arguments. It gets the descriptors `inherited` under
  /// the same numbers, and no others that were opened with O_CLOEXEC; its output goes to `output`. Throws
  /// Error (kIo) when it cannot be started.
  Process(std::vector<std::string> arguments, std::vector<int> inherited, int output = STDERR_FILENO);
  /// Kills it unless it has ended, and waits for its end.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  /// Becomes readable when the process has ended.
  int ended_fd() const { return ended_.get(); }
  bool wait(double seconds);
  void kill_now();
  /// After its end: `was killed by signal 11 (Segmentation fault)` or `ended with exit status 3`.
  std::string end() const;
  bool has_succeeded() const { return status_ == 0; }

 private:
  void keep(std::vector<std::string> arguments, const std::vector<int>& inherited, int output, int result);

  Descriptor ended_;
  /// Starts the process and waits for it. The system ties a child to the thread that created it, not to the
  /// process: this one lives as long as the child.
  std::thread keeper_;
  std::mutex mutex_;  ///< of what follows
  pid_t pid_ = -1;    ///< -1 once it must not be signalled
  int status_ = 0;
};

}  // namespace assay::script
