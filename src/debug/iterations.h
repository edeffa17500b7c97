// One check after the other, each on a candidate, with the files that go with it: Polygraphy's protocol of
// iterations.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "debug/journal.h"
#include "debug/observer.h"

namespace assay::debug {

/// What Polygraphy's replay files hold of an iteration.
struct ReplayEntry {
  bool success = true;
  std::map<std::string, int64_t> state = {};
  int64_t iteration = 0;
};
/// By `_N<iteration>[_<suffix>]`.
using Replay = std::map<std::string, ReplayEntry>;

/// Throws Error for a file that is missing, no JSON, or no replay.
Replay load_replay(const std::string& path);
/// Throws Error (kIo).
void save_replay(const Replay& replay, const std::string& path);

struct IterationOptions {
  std::string candidate;          ///< the path that each candidate gets; empty: there are none
  bool removes_candidate = true;  ///< after its iteration
  std::string iteration_info;     ///< a file that says the number of the iteration while it runs; empty: none
  std::string load_replay;        ///< empty: none
  std::string save_replay;        ///< after each iteration; empty: nowhere
  std::vector<std::string> artifacts = {};  ///< files of an iteration that go to the folder `good` or `bad`
  std::string artifact_folder;
};

/// The iterations of one command. Those of one phase are counted from 0.
class Iterations {
 public:
  /// Throws Error: kInvalidArgument where the candidate's path exists already, else as load_replay().
  Iterations(IterationOptions options, Check& check, SearchObserver& observer);

  /// From now on answers are kept in, and taken from, a journal, by question.
  void use(Journal& journal) { journal_ = &journal; }

  /// Begins a phase; `suffix` tells its iterations from those of others in file names.
  void begin(std::string suffix);

  struct Candidate {
    /// Writes the candidate's file. Throws Error where it cannot be made; nothing is checked then.
    std::function<void()> write;
    /// For the journal: what is asked. Empty: its number.
    std::string question;
    /// For the replay.
    std::function<std::map<std::string, int64_t>()> state;
    std::optional<size_t> remaining;  ///< about how many iterations come
    /// An answer in place of the check's, such as that there is no candidate; may be empty.
    std::function<std::optional<Answer>()> instead;
  };
  struct Result {
    Answer answer;
    std::map<std::string, int64_t> state;
  };
  Result run(const Candidate& candidate);
  /// Ends a phase.
  void end();

  size_t checks() const { return checks_; }  ///< that were made, in all phases
  size_t iterations() const { return total_; }

 private:
  Result run_anew(const Candidate& candidate, const std::string& key);
  void sort_artifacts(bool passed, const std::string& key);
  void note(const std::string& key, const Result& result, bool passed, const std::string& suffix);
  void remove_file(const std::string& path);
  Answer answer_to(const Candidate& candidate);

  IterationOptions options_;
  Check& check_;
  SearchObserver& observer_;
  Journal* journal_ = nullptr;
  Replay replay_;
  std::string suffix_, started_;
  size_t index_ = 0, passed_ = 0, checks_ = 0, total_ = 0;
};

}  // namespace assay::debug
