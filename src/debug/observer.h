// Events of a search in progress.
#pragma once

#include <poll.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/error.h"
#include "debug/answer.h"

namespace assay::debug {

struct CommandResult;

/// Told in this order; all do nothing unless they are overridden.
class SearchObserver {
 public:
  virtual ~SearchObserver() = default;

  /// The purpose of the next iterations: "sensitivities", "regions", ...
  virtual void begin_stage(const std::string& what) { (void)what; }
  /// Iteration `index`, from 0 on. `remaining`: about how many more there will be, where that is known.
  virtual void begin_iteration(size_t index, std::optional<size_t> remaining) {
    (void)index, (void)remaining;
  }
  /// The answer was taken from an earlier search.
  virtual void use_known_answer(const Answer& answer) { (void)answer; }
  virtual void begin_command(const std::vector<std::string>& command) { (void)command; }
  virtual void end_command(const CommandResult& result, const Answer& answer) { (void)result, (void)answer; }
  virtual void move_artifact(const std::string& from, const std::string& to) { (void)from, (void)to; }
  /// An artifact was missing, or could not be moved.
  virtual void miss_artifact(const std::string& path, const std::string& reason) { (void)path, (void)reason; }
  virtual void save_replay(const std::string& path) { (void)path; }
  virtual void end_iteration(size_t index, const Answer& answer, double seconds) {
    (void)index, (void)answer, (void)seconds;
  }
  /// A file created for the iteration could not be removed.
  virtual void keep_file(const std::string& path) { (void)path; }
  virtual void end_iterations(size_t count, size_t passed) { (void)count, (void)passed; }
};

/// The files of one check among several.
struct CheckFiles {
  std::string candidate;  ///< its path; empty: there is none
  /// Paths as they are where one check runs after the other, and those that this one uses in their place.
  std::vector<std::pair<std::string, std::string>> own = {};
};

/// A check that runs in parallel to others, until this object goes.
class CheckRun {
 public:
  virtual ~CheckRun() = default;
  /// Adds what poll() is to wait for, for some ten milliseconds at most.
  virtual void watch(std::vector<pollfd>& fds) const = 0;
  /// Does what can be done without waiting. True once it has ended.
  virtual bool advance() = 0;
  /// Of one that has ended, by the failure that is now looked for.
  virtual Answer answer() = 0;
  /// Of one that has ended: begins the same check once more. Null: Check::begin() does, with the same files.
  virtual std::unique_ptr<CheckRun> again() const { return nullptr; }
  /// Tells what was done, as Check::check() does.
  virtual void tell(SearchObserver& observer, const Answer& answer) { (void)observer, (void)answer; }
};

/// A check of candidates.
class Check {
 public:
  virtual ~Check() = default;
  /// `candidate`: the path of its file; empty if there is none.
  virtual Answer check(const std::string& candidate, SearchObserver& observer) = 0;
  /// Begins a check that goes on by itself.
  virtual std::unique_ptr<CheckRun> begin(const CheckFiles& files) {
    require_own_files(files);
    return nullptr;
  }
  /// Throws Error (kInvalidArgument) unless several can run side by side, each with other files than these in
  /// their place.
  virtual void require_own_files(const CheckFiles&) const {
    fail(ErrorCode::kInvalidArgument, "these checks are made one after the other");
  }
  /// Whether the first failure that is seen decides which one is looked for.
  virtual bool looks_for_failures() const { return false; }
  /// The sought failure, once one was seen.
  virtual std::string failure() const { return {}; }
  /// Sets the sought failure.
  virtual void look_for(const std::string& failure) { (void)failure; }
  /// The sought failure was seen in some of the runs only.
  virtual void look_for_rate(int failed_runs, int runs) { (void)failed_runs, (void)runs; }
};

}  // namespace assay::debug
