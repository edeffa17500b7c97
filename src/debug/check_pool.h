// Checks side by side: those that a search asks for next, by what it expects.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "debug/observer.h"

namespace assay::debug {

struct CheckPoolOptions {
  int jobs = 1;
  std::string candidate;                    ///< the path that a candidate has where there is one at a time
  std::vector<std::string> artifacts = {};  ///< files that a check leaves
  /// The folder of the files of checks; it is made when it is needed, and removed in the end.
  std::string folder;
};

class CheckPool {
 public:
  /// A question that a search may ask.
  struct Question {
    std::string name;
    std::function<void(const std::string& path)> write;  ///< makes the candidate; may be empty
  };
  /// A check that has ended.
  struct Finished {
    std::unique_ptr<CheckRun> run;
    CheckFiles files;
  };
  /// Told of each check once it ends, before it is asked for.
  using Ended = std::function<void(const std::string& question, CheckRun& run)>;

  /// Throws Error (kInvalidArgument) where checks cannot have files of their own, or the folder exists and
  /// is not `is_resumed`.
  CheckPool(CheckPoolOptions options, Check& check, bool is_resumed);
  ~CheckPool();
  CheckPool(const CheckPool&) = delete;
  CheckPool& operator=(const CheckPool&) = delete;

  void on_end(Ended ended) { ended_ = std::move(ended); }
  /// The next questions, the first for certain. Checks that run and are not among these are ended; what has
  /// been found out is kept.
  void expect(std::vector<Question> questions);
  bool knows(const std::string& question) const;
  /// The check of a question that it knows, once it has ended. Throws what writing the candidate and
  /// Check::begin() throw, and Interrupted.
  Finished take(const std::string& question);
  /// Removes what a check left.
  void drop(const Finished& finished);

 private:
  struct Job {
    std::string question;
    Finished check;
    bool has_ended = false;
  };

  CheckFiles new_files();
  void start(const Question& question);
  void start_expected();
  void advance();
  void wait();
  std::deque<Job>::iterator find(const std::string& question);
  void remove(const CheckFiles& files);
  void remove_candidate(const CheckFiles& files);

  CheckPoolOptions options_;
  Check& check_;
  Ended ended_;
  std::deque<Question> expected_;  ///< those that have not begun
  std::deque<Job> jobs_;
  size_t number_ = 0;
};

}  // namespace assay::debug
