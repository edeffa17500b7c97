// Declarations from tactics.def: the definition of each tactic's file.
#pragma once

#include "engine/tactics/tactic.h"

namespace assay::engine {

#define ASSAY_TACTIC(name)      \
  namespace tactic_##name {     \
    extern const TacticDef def; \
  }
#include "engine/tactics/tactics.def"
#undef ASSAY_TACTIC

}  // namespace assay::engine
