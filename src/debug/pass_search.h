// Which edit of which pass makes an engine's results wrong.
#pragma once

#include <string>
#include <vector>

#include "debug/engine_search.h"
#include "debug/pass_watch.h"

namespace assay::debug {

struct PassResult {
  enum class Outcome : uint8_t {
    kFound,
    kPasses,     ///< the build with all its edits passes
    kNotPasses,  ///< it fails in the same way without any
  };
  Outcome outcome = Outcome::kFound;
  Answer failure;        ///< of the build with all its edits
  size_t edits = 0;      ///< that it makes
  size_t position = 0;   ///< of the first edit with which it fails, from 1 on
  WatchedEdit guilty;    ///< that edit
  bool is_alone = true;  ///< with this edit left out, and all others made, it passes
  /// With this pass left out it passes.
  bool passes_without = true;
  bool is_timed = false;  ///< it takes the tactics that timing chooses for the failure
};

/// Halves the number of edits between none, with which the build passes, and all: about log2 N builds. Throws
/// Error (kInvalidArgument) where the build did not run. The runtime's passes must not be null.
PassResult search_passes(EngineSearch& search, SearchObserver& observer);

}  // namespace assay::debug
