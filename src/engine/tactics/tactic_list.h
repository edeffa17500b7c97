// tactics.def read as declarations: what each file of a tactic defines.
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
