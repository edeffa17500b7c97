// The passes of this build: passes.def read as declarations, and the look-up.
#pragma once

#include <span>
#include <string_view>

#include "passes/pass.h"

namespace assay {

#define ASSAY_PASS(name)      \
  namespace pass_##name {     \
    extern const PassDef def; \
  }
#include "passes/passes.def"
#undef ASSAY_PASS

/// In the order of passes.def, which is alphabetical.
std::span<const PassDef* const> all_passes();
/// Null when there is none of that name.
const PassDef* find_pass(std::string_view name);

}  // namespace assay
