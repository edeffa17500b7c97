// Which tactic of which region makes an engine's results wrong, or different from run to run.
#pragma once

#include <string>
#include <vector>

#include "debug/engine_search.h"
#include "debug/tactic_choices.h"

namespace assay::debug {

struct TacticOptions {
  /// Where the choices of the first build are kept: what is there is taken for them.
  std::string choices;
};

struct TacticResult {
  enum class Outcome : uint8_t {
    kFound,
    kPasses,      ///< the build with all its choices passes
    kNotTactics,  ///< it fails in the same way with every node on the reference's own evaluation
  };
  Outcome outcome = Outcome::kFound;
  Answer failure;                    ///< of the build with all its choices
  size_t regions = 0;                ///< that it has
  std::vector<TacticChoice> guilty;  ///< it takes all of these for the failure
  /// With these tactics, or ways of them, left out the build passes; empty: that was not enough.
  std::vector<std::string> disabled;
  /// Where that was not enough: with these nodes on these tactics it passes.
  std::map<std::string, std::string> pinned;
};

/// Searches among the choices of a build between those that it made and the reference's own evaluation of
/// each node: first which tactics it takes for the failure, then which regions of them. Some 2 log2 N builds
/// each where one is to blame. Throws Error (kInvalidArgument) where the build did not run. The runtime's
/// tactics must not be null.
TacticResult search_tactics(EngineSearch& search, const TacticOptions& options, SearchObserver& observer);

}  // namespace assay::debug
