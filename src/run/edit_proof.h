// Proof of individual edits by passes, before they are made.
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

/// A refused edit and the reason.
struct RefusedEdit {
  std::string pass;
  std::string node;    ///< its label; empty for a pass over the whole model
  std::string reason;  ///< the counterexample
};

/// Decides which edits a simplification may make (passes/edit_hook.h). Each is checked separately: the
/// replaced nodes with their producers are extracted as a model and compared with the edited one. If a
/// counterexample feeds values that the producers may never compute, more of them are included. Edits that
/// cannot be decided that way (without patch, nodes with bodies or of unknown types, too much work) are left
/// to a comparison of the whole models.
class EditProof {
 public:
  struct Options {
    bool is_local = true;       ///< false: refuses only edits of forbid()
    double edit_seconds = 0.5;  ///< for one edit
    double seconds = 30;        ///< for all
    uint64_t seed = 1;
  };

  EditProof() : EditProof(Options()) {}
  explicit EditProof(const Options& options) : options_(options) {}

  bool allows(const PassEdit& edit);

  /// Restarts with the first edit, allowing at most this many.
  void restart(int64_t limit = INT64_MAX);
  /// Allowed since restart().
  int64_t allowed() const { return allowed_; }
  /// The last edit that was allowed.
  const RefusedEdit& last() const { return last_; }
  /// Refuses an edit from now on.
  void forbid(RefusedEdit edit);

  /// The refused edits, each once, in order.
  const std::vector<RefusedEdit>& refused() const { return refused_; }
  int64_t proved() const { return proved_; }        ///< edits that were checked separately
  int64_t undecided() const { return undecided_; }  ///< edits left to the comparison of whole models
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
