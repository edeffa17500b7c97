// Options for how searches of `debug` check candidates and keep artifacts.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "cli/args.h"
#include "cli/command.h"
#include "debug/iterations.h"
#include "debug/reduction.h"

namespace assay::cli {

struct IterationGroup {
  /// The default path of the intermediate model; empty: the command has none.
  std::string candidate = {};
  bool has_until = false;    ///< --until
  bool has_journal = false;  ///< --journal, --resume
  bool has_jobs = false;     ///< --jobs
  bool has_repeat = false;   ///< --repeat
  bool has_replay = true;    ///< --load-debug-replay, --save-debug-replay
  /// For the help: how candidates are checked where --check is left out.
  std::string without_check = "you are asked each time";
  /// For the help: the default of --journal.
  std::string journal = "the result's path with .journal";
};

/// Pass/Fail Reporting, Artifact Sorting, Iterative Debugging.
void add_iteration_options(ArgParser& parser, const IterationGroup& group);

/// The check of --check; without it, a logged interactive question. `compares`: distinguishes other failures
/// from the first. Throws Error.
std::unique_ptr<debug::Check> read_check(const ParsedArgs& args, bool compares);
/// `candidate`: as in IterationGroup. `journal`: the path of the search's.
debug::IterationOptions read_iteration_options(const ParsedArgs& args, const std::string& candidate = {},
                                               const std::string& journal = {});

/// Identifies a version of a file, by its size and time; empty where it cannot be read.
std::string file_identity(const std::string& path);

/// When --until says to stop.
struct Until {
  std::optional<bool> success = {};  ///< at the first iteration that passes, or fails
  int64_t count = 0;                 ///< else after this many
};
Until read_until(const ParsedArgs& args);
/// One phase of iterations on the same candidate, until that condition.
void repeat_until(const Until& until, debug::Iterations& iterations,
                  const debug::Iterations::Candidate& candidate);

/// Writes the lines of a search.
class SearchText final : public debug::ReductionObserver {
 public:
  /// `shows_kinds`: reports failures other than the sought one by name.
  SearchText(const ParsedArgs& args, bool shows_kinds);
  ~SearchText() override;

  void begin_stage(const std::string& what) override;
  void begin_iteration(size_t index, std::optional<size_t> remaining) override;
  void use_known_answer(const debug::Answer& answer) override;
  void begin_command(const std::vector<std::string>& command) override;
  void end_command(const debug::CommandResult& result, const debug::Answer& answer) override;
  void move_artifact(const std::string& from, const std::string& to) override;
  void miss_artifact(const std::string& path, const std::string& reason) override;
  void save_replay(const std::string& path) override;
  void end_iteration(size_t index, const debug::Answer& answer, double seconds) override;
  void keep_file(const std::string& path) override;
  void end_iterations(size_t count, size_t passed) override;
  void begin_phase(const std::string& what) override;
  void end_phase(const std::string& what, size_t left) override;
  void mark(bool inputs, const std::vector<const Value*>& values, bool in_iteration) override;
  void freeze(const Value& value, bool is_first) override;
  void evaluate() override;

 private:
  bool shows_output_, hides_failures_, shows_kinds_;
  size_t flaky_ = 0;  ///< candidates whose check flipped
  bool has_drawn_data_ = true;
  struct Indentation;
  std::unique_ptr<Indentation> indentation_;
};

}  // namespace assay::cli
