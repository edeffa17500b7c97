// Proof of single edits of passes, before they are made.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "passes/edit_hook.h"
#include "run/equivalence.h"

namespace assay {

/// An edit that is not made, and why.
struct RefusedEdit {
  std::string pass;
  std::string node;    ///< its label; empty for a pass over the whole model
  std::string reason;  ///< the counterexample
};

/// Decides which edits a simplification may make (passes/edit_hook.h). Each is compared by itself: the
/// nodes that it replaces with what computes their inputs, as a little model, against the same with the edit
/// made. Where a counterexample gives inputs to these nodes that the nodes before them might never give, more
/// of those are looked at. What cannot be decided that way (an edit without patch, nodes with bodies or of
/// unknown types, too much work) is left to a comparison of the whole models.
class EditProof {
 public:
  struct Options {
    bool is_local = true;       ///< false: only what forbid() says is refused
    double edit_seconds = 0.5;  ///< for one edit
    double seconds = 30;        ///< for all
    uint64_t seed = 1;
  };

  EditProof() : EditProof(Options()) {}
  explicit EditProof(const Options& options) : options_(options) {}

  bool allows(const PassEdit& edit);

  /// Begins again with the first edit, of which so many are allowed at most.
  void restart(int64_t limit = INT64_MAX);
  /// Allowed since restart().
  int64_t allowed() const { return allowed_; }
  /// The last edit that was allowed.
  const RefusedEdit& last() const { return last_; }
  /// Refuses an edit from now on.
  void forbid(RefusedEdit edit);

  /// In the order in which they were refused, each once.
  const std::vector<RefusedEdit>& refused() const { return refused_; }
  int64_t proved() const { return proved_; }        ///< edits that were compared by themselves
  int64_t undecided() const { return undecided_; }  ///< edits that are left to the whole
  int64_t trials() const { return trials_; }
  double seconds() const { return seconds_; }

 private:
  enum class Outcome : uint8_t { kProved, kUndecided, kRefused };
  Outcome decide(const PassEdit& edit, std::string& reason);
  void refuse(RefusedEdit edit);

  Options options_;
  std::unordered_map<std::string, Outcome> known_;
  std::unordered_set<std::string> forbidden_;
  std::vector<RefusedEdit> refused_;
  RefusedEdit last_;
  int64_t limit_ = INT64_MAX, allowed_ = 0, proved_ = 0, undecided_ = 0, trials_ = 0;
  double seconds_ = 0;
};

}  // namespace assay
