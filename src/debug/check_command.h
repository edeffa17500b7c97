// A command that checks a candidate.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "debug/observer.h"

namespace assay::debug {

struct CheckOptions {
  /// The program and its arguments; `{}` within a word is replaced by the candidate's path.
  std::vector<std::string> command;
  /// The only exit codes that are failures; empty: all except 0.
  std::vector<int64_t> fail_codes = {};
  /// Exit codes that are passes, whatever the output is.
  std::vector<int64_t> ignore_fail_codes = {};
  /// Regular expressions (RE2), one of which must match the output of a failure; empty: no condition. Without
  /// fail_codes a match is a failure whatever the exit code is.
  std::vector<std::string> fail_regexes = {};
  /// Whether a failure that differs from the first one is another failure. If exit codes or expressions are
  /// given, they define failures.
  bool same_failure = false;
  double timeout_seconds = 0;  ///< 0: no limit
};

/// The result of a command.
struct CommandResult {
  int exit_code = 0;                            ///< as in a shell: 128 + N for signal N
  std::string standard_output, standard_error;  ///< the middle of long output is omitted
  bool timed_out = false;
  double seconds = 0;
};

/// Runs the command in a separate session, so that signals to its process group do not reach this process,
/// and ends all of it after `timeout_seconds`, or when this process ends. Interrupted by SIGINT, it
/// ends the command and throws Interrupted. Throws Error (kNotFound) if there is no such program, (kIo) if it
/// cannot be started.
CommandResult run_command(const std::vector<std::string>& command, double timeout_seconds);

/// SIGINT came while a check was running.
class Interrupted : public std::exception {
 public:
  const char* what() const noexcept override { return "interrupted"; }
};

/// The check of a search: a command.
class CheckCommand final : public Check {
 public:
  /// Throws Error (kInvalidArgument) for an empty command and for an invalid expression, (kNotFound) for a
  /// program that is missing or not executable.
  explicit CheckCommand(CheckOptions options);
  ~CheckCommand() override;

  /// Runs the command and judges its result.
  Answer check(const std::string& candidate, SearchObserver& observer) override;
  const CheckOptions& options() const { return options_; }
  /// The command line for one candidate.
  std::vector<std::string> command_for(const std::string& candidate) const;
  /// True when the command names the candidate by `{}`, so that several can be checked in parallel.
  bool names_candidate() const;

  /// Judges the result of the command.
  Answer judge(const CommandResult& result);
  std::string failure() const override { return failure_; }
  void look_for(const std::string& failure) override { failure_ = failure; }

 private:
  bool has_matching_output(const CommandResult& result) const;
  bool is_failure(const CommandResult& result) const;
  std::string describe(const CommandResult& result) const;

  CheckOptions options_;
  struct Regexes;
  std::unique_ptr<Regexes> regexes_;
  std::string failure_;
};

}  // namespace assay::debug
