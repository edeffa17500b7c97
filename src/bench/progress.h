// Progress of an engine's build as text.
#pragma once

#include <string>

#include "assay/builder.h"

namespace assay::bench {

/// "timing tactics: 12 of 53, about 4 s left, 30 times from the cache: dnnl_conv, direct_conv"; unknown parts
/// are omitted. `seconds` have passed since this phase began.
std::string progress_text(const BuildProgress& progress, double seconds);

}  // namespace assay::bench
