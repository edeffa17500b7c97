// A command that runs as a process of its own, apart from this one and its signals.
#pragma once

#include <poll.h>

#include <exception>
#include <memory>
#include <string>
#include <vector>

namespace assay::debug {

/// The result of a command.
struct CommandResult {
  int exit_code = 0;                            ///< as in a shell: 128 + N for signal N
  std::string standard_output, standard_error;  ///< the middle of long output is omitted
  bool timed_out = false;
  double seconds = 0;
};

struct CommandLimits {
  double timeout_seconds = 0;  ///< 0: none
  int64_t largest_file = 0;    ///< that it may write, in bytes; 0: none
};

/// The file that a shell would start for the name. Throws Error (kNotFound, kInvalidArgument).
std::string program_path(const std::string& name);

/// Runs in a separate session, so that signals to its process group do not reach this process. It ends, with
/// all of its group, after the time limit, with this object, or when this process ends.
class CommandRun {
 public:
  /// Throws Error (kNotFound) if there is no such program, (kIo) if it cannot be started.
  CommandRun(const std::vector<std::string>& command, const CommandLimits& limits);
  ~CommandRun();
  CommandRun(const CommandRun&) = delete;
  CommandRun& operator=(const CommandRun&) = delete;

  /// Adds what poll() is to wait for, for some ten milliseconds at most.
  void watch(std::vector<pollfd>& fds) const;
  /// Does what can be done without waiting. True once it has ended.
  bool advance();
  /// Of a command that has ended.
  const CommandResult& result() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// SIGINT came while a check was running.
class Interrupted : public std::exception {
 public:
  const char* what() const noexcept override { return "interrupted"; }
};

/// How long poll() waits for what watch() adds: something that the command left behind may hold its pipes
/// open for ever, and a command may close its output and go on.
inline constexpr int kCommandPause = 20;

/// Runs it to its end. Throws as CommandRun does, and Interrupted.
CommandResult run_command(const std::vector<std::string>& command, double timeout_seconds);
CommandResult run_command(const std::vector<std::string>& command, const CommandLimits& limits);

}  // namespace assay::debug
