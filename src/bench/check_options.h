// What no benchmark can do.
#pragma once

#include "bench/options.h"

namespace assay::bench {

/// Throws Error for options that contradict each other.
void check_options(const Options& options);

}  // namespace assay::bench
