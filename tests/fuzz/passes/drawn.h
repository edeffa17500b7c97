// The graphs that are drawn for each pass.
#pragma once

#include "fuzz/passes/draft.h"

namespace assay::fuzz {

#define ASSAY_DRAWN(name) void draw_##name(Draft& d);
#include "fuzz/passes/drawn.def"
#undef ASSAY_DRAWN

}  // namespace assay::fuzz
