// Which passes there are, and the order in which they run.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "passes/pass.h"

namespace assay {

/// When a pass runs.
enum class PassStage : uint8_t {
  /// What the engine cannot do without: functions inlined, old opsets rewritten. Once for each
  /// model whose types have been inferred.
  kLowering,
  /// What holds whatever the input shapes are: constants folded, weights final. Once for each model.
  kCanonical,
  /// For a model whose input shapes are numbers and whose types have been inferred: first everything
  /// that folds because shapes are known (infer again after it) ...
  kSpecialize,
  /// ... then the idioms: nodes that together compute a known function.
  kIdioms,
  /// For `surgeon sanitize --simplify`: what makes a model smaller without changing its results, in operators
  /// that its opset has. Types have been inferred; run in turn with constant folding until nothing changes.
  kSimplify,
  /// What follows when nothing changes any more: after it, the others would not recognise what it made into
  /// one.
  kSimplifyEnd,
};

/// Who has one may look passes up from any thread, as long as nobody adds to it.
class PassSet {
 public:
  /// Appends to a stage. `pass` must live as long as the set; `owner`, if any, is kept until then. It runs on
  /// models that import at least version `since` of the standard's operators. Throws Error when another pass
  /// has its name, or it does not say what it does.
  void add(const PassDef& pass, PassStage stage, int64_t since = 0,
           std::shared_ptr<const void> owner = nullptr);

  /// In the order in which they run; several times, if that is so.
  std::vector<const PassDef*> stage(PassStage stage, int64_t opset = INT64_MAX) const;
  /// Each once, in no order that means anything.
  std::vector<const PassDef*> all() const;
  /// Null when there is none of that name.
  const PassDef* find(std::string_view name) const;

 private:
  struct Step {
    const PassDef* pass;
    int64_t since;
  };
  std::array<std::vector<Step>, 6> stages_;
  std::vector<std::shared_ptr<const void>> owners_;
};

/// Those of passes.def.
const PassSet& built_in_passes();

}  // namespace assay
