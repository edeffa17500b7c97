#include "run/proven_model.h"

#include <optional>

#include "base/diagnostics.h"
#include "base/log.h"

namespace assay {
namespace {

/// Maximum number of wrong edits found by whole-model comparison. Local proofs find the others.
constexpr int kMaxCulprits = 24;

class CulpritSearch {
 public:
  CulpritSearch(const std::shared_ptr<Model>& original, const MakeModel& make, EditProof& proof,
                const EquivalenceOptions& options)
      : original_(original), make_(make), proof_(proof), options_(options) {}

  ProvenModel run() {
    for (int culprits = 0; culprits <= kMaxCulprits; ++culprits) {
      result_.model = made(INT64_MAX);
      const int64_t edits = proof_.allowed();
      result_.comparison = compare_models(original_, result_.model, options_);
      if (result_.comparison.trials == 0 && result_.comparison.difference.empty())
        throw no_trial_error(*original_, result_.comparison);
      if (result_.comparison.difference.empty()) return std::move(result_);
      if (!exclude_culprit(edits)) break;
    }
    result_.model = nullptr;
    return std::move(result_);
  }

 private:
  std::shared_ptr<Model> made(int64_t edits) {
    // The first one is shown to the user.
    std::optional<log::Capture> quiet;
    if (result_.made++ > 0) quiet.emplace();
    proof_.restart(edits);
    return make_(proof_, result_.fold);
  }

  bool differs(int64_t edits, const EquivalenceOptions& on_feed) {
    return !compare_models(original_, made(edits), on_feed).difference.empty();
  }

  /// False when none is left to exclude.
  bool exclude_culprit(int64_t edits) {
    EquivalenceOptions on_feed = options_;
    on_feed.loaded = {result_.comparison.feed};
    on_feed.trials = 0;
    on_feed.observer = nullptr;
    const std::string reason = result_.comparison.difference;
    if (result_.comparison.feed.empty() && !original_->graph->inputs.empty()) return false;
    if (differs(0, on_feed)) {
      result_.fold_reason = reason;
      if (result_.fold == FoldExtent::kNone) return false;
      result_.fold = result_.fold == FoldExtent::kAll ? FoldExtent::kNoShapes : FoldExtent::kNone;
      return true;
    }
    int64_t right = 0, wrong = edits;
    while (wrong - right > 1) {
      const int64_t middle = right + (wrong - right) / 2;
      (differs(middle, on_feed) ? wrong : right) = middle;
    }
    made(wrong);
    RefusedEdit culprit = proof_.last();
    culprit.reason = reason;
    if (culprit.pass.empty()) return false;
    diag::verbose("The edit of pass {} at {} is to blame", culprit.pass, culprit.node);
    proof_.forbid(std::move(culprit));
    return true;
  }

  const std::shared_ptr<Model>& original_;
  const MakeModel& make_;
  EditProof& proof_;
  const EquivalenceOptions& options_;
  ProvenModel result_;
};

}  // namespace

ProvenModel make_proven(const std::shared_ptr<Model>& original, const MakeModel& make, EditProof& proof,
                        const EquivalenceOptions& options) {
  return CulpritSearch(original, make, proof, options).run();
}

}  // namespace assay
