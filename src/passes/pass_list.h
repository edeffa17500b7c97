// passes.def read as declarations: what each file of a pass defines.
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
