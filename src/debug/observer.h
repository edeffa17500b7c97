// Events of a search in progress.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

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

/// A check of candidates.
class Check {
 public:
  virtual ~Check() = default;
  /// `candidate`: the path of its file; empty if there is none.
  virtual Answer check(const std::string& candidate, SearchObserver& observer) = 0;
  /// The sought failure, once one was seen.
  virtual std::string failure() const { return {}; }
  /// Sets the sought failure.
  virtual void look_for(const std::string& failure) { (void)failure; }
};

}  // namespace assay::debug
