// The set of passes, and the order in which they run.
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
  /// Required by the engine: inlining of functions, conversion of old opsets. Once for each model with
  /// inferred types.
  kLowering,
  /// Independent of input shapes: folding of constants, final weights. Once for each model.
  kCanonical,
  /// For a model with known input shapes and inferred types: first folding by known shapes (infer again after
  /// it) ...
  kSpecialize,
  /// ... then idioms: groups of nodes that compute a known function.
  kIdioms,
  /// For `surgeon sanitize --simplify`: what makes a model smaller without changing its results, in operators
  /// that its opset has. Types must be inferred; alternates with constant folding until a fixed point.
  kSimplify,
  /// Final passes after the fixed point: the others
  /// would not recognize their fused results.
  kSimplifyEnd,
  /// Behind kSpecialize for one plan of many shapes, whose open extents are at least 1.
  kOpen,
};

/// Lookups are safe from any thread as long as no pass is being added.
class PassSet {
 public:
  /// Appends to a stage. `pass` must live as long as the set; `owner`, if any, is kept until then. It runs on
  /// models that import at least version `since` of the standard's operators. Throws Error when another pass
  /// has its name, or it has no summary.
  void add(const PassDef& pass, PassStage stage, int64_t since = 0,
           std::shared_ptr<const void> owner = nullptr);

  /// In the order in which they run; passes may occur several times.
  std::vector<const PassDef*> stage(PassStage stage, int64_t opset = INT64_MAX) const;
  /// Each once, in no particular order.
  std::vector<const PassDef*> all() const;
  /// Null when there is none of that name.
  const PassDef* find(std::string_view name) const;

 private:
  struct Step {
    const PassDef* pass;
    int64_t since;
  };
  std::array<std::vector<Step>, 7> stages_;
  std::vector<std::shared_ptr<const void>> owners_;
};

/// The passes of passes.def.
const PassSet& built_in_passes();

}  // namespace assay
