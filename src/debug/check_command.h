// A command that checks a candidate.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "debug/command_run.h"
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
  CommandLimits limits = {};
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
  std::unique_ptr<CheckRun> begin(const CheckFiles& files) override;
  void require_own_files(const CheckFiles& files) const override;
  /// The command line for one candidate.
  std::vector<std::string> command_for(const std::string& candidate) const;
  std::vector<std::string> command_for(const CheckFiles& files) const;

  /// Judges the result of the command.
  Answer judge(const CommandResult& result);
  bool looks_for_failures() const override { return true; }
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
