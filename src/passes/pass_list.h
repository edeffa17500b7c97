// Declarations from passes.def: the definition of each pass's file.
#pragma once

#include "passes/pass.h"

namespace assay {

#define ASSAY_PASS(name)      \
  namespace pass_##name {     \
    extern const PassDef def; \
  }
#include "passes/passes.def"
#undef ASSAY_PASS

}  // namespace assay
