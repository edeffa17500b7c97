// Successive checks of candidates with their
// files: Polygraphy's protocol of iterations.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "debug/check_pool.h"
#include "debug/journal.h"
#include "debug/observer.h"

namespace assay::debug {

/// An iteration in Polygraphy's replay files.
struct ReplayEntry {
  bool success = true;
  std::map<std::string, int64_t> state = {};
  int64_t iteration = 0;
};
/// By `_N<iteration>[_<suffix>]`.
using Replay = std::map<std::string, ReplayEntry>;

/// Throws Error for a file that is missing, not JSON, or not a replay.
Replay load_replay(const std::string& path);
/// Throws Error (kIo).
void save_replay(const Replay& replay, const std::string& path);

struct IterationOptions {
  std::string candidate;                    ///< the path of each candidate; empty: there are none
  bool replaces_candidate = false;          ///< one that is there is what a killed search left
  bool removes_candidate = true;            ///< after its iteration
  std::string iteration_info;               ///< a file with the number of the current iteration; empty: none
  std::string load_replay;                  ///< empty: none
  std::string save_replay;                  ///< after each iteration; empty: nowhere
  std::vector<std::string> artifacts = {};  ///< files of an iteration to move to the folder `good` or `bad`
  std::string artifact_folder;
  int jobs = 1;             ///< checks side by side: those that a search expects to need
  std::string job_folder;   ///< of their files
  bool is_resumed = false;  ///< what a killed search left in that folder goes
};

/// The iterations of one command. Those of one phase are counted from 0.
class Iterations {
 public:
  /// Throws Error: kInvalidArgument if the candidate's path already exists, and may not be replaced, else as
  /// load_replay().
  Iterations(IterationOptions options, Check& check, SearchObserver& observer);

  /// Stores answers in, and takes them from, a journal, by question.
  void use(Journal& journal) { journal_ = &journal; }
  int jobs() const { return options_.jobs; }
  /// How many of its next questions a search tells to expect(), since some do not come.
  size_t foresight() const { return options_.jobs > 1 ? 2 * static_cast<size_t>(options_.jobs) : 0; }

  /// From here on this failure, of the whole, is looked for.
  void seek(const Answer& sought);
  /// Begins a phase; `suffix` distinguishes its iterations in file names.
  void begin(std::string suffix);

  struct Candidate {
    /// Writes the candidate's file. Throws Error if it cannot be created; nothing is then checked.
    std::function<void(const std::string& path)> write;
    /// The question, for the journal. Empty: its number.
    std::string question;
    /// For the replay.
    std::function<std::map<std::string, int64_t>()> state;
    std::optional<size_t> remaining;  ///< estimated number of further iterations
    /// Overrides the check's answer, for example if there is no candidate; may be empty.
    std::function<std::optional<Answer>()> instead;
  };
  struct Result {
    Answer answer;
    std::map<std::string, int64_t> state;
  };
  Result run(const Candidate& candidate);
  /// The candidates of the next calls of run(), as far as the search can tell, the likeliest first; the first
  /// for certain. Where checks may run side by side, they begin. `write` is called during this call or a
  /// later run(). Needs questions, and takes no `instead`.
  void expect(std::vector<Candidate> candidates);
  /// Ends a phase.
  void end();

  size_t checks() const { return checks_; }  ///< number of checks, in all phases
  size_t iterations() const { return total_; }

 private:
  Result run_anew(const Candidate& candidate, const std::string& key);
  std::optional<Result> run_beside(const Candidate& candidate, const std::string& key);
  std::string key_of(size_t index) const;
  void keep_early_answer(const std::string& question, CheckRun& run);
  void sort_artifacts(bool passed, const std::string& key,
                      const std::map<std::string, std::string>& own = {});
  void note(const std::string& key, const Result& result, bool passed, const std::string& suffix);
  void remove_file(const std::string& path);
  void remove_candidate();
  Answer answer_to(const Candidate& candidate);

  IterationOptions options_;
  Check& check_;
  SearchObserver& observer_;
  Journal* journal_ = nullptr;
  std::unique_ptr<CheckPool> pool_;  ///< where checks run side by side
  Replay replay_;
  /// External data of large candidates; empty where there was such a file before.
  std::string candidate_data_;
  std::string suffix_, started_;
  size_t index_ = 0, passed_ = 0, checks_ = 0, total_ = 0;
};

}  // namespace assay::debug
