// The tactics of this build: tactics.def read as declarations, and the look-ups.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "engine/tactics/tactic.h"

namespace assay::engine {

#define ASSAY_TACTIC(name)      \
  namespace tactic_##name {     \
    extern const TacticDef def; \
  }
#include "engine/tactics/tactics.def"
#undef ASSAY_TACTIC

/// In the order of tactics.def.
std::span<const TacticDef* const> all_tactics();
/// Null when there is none of that name.
const TacticDef* find_tactic(std::string_view name);
/// Those that serve the region's operator, in order; the plain evaluation is always the last.
std::vector<const TacticDef*> tactics_for(const Region& region);

/// The kernels of all tactics, for contexts.
const KernelFactory* find_kernel(std::string_view tactic);

}  // namespace assay::engine
