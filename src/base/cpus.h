// The number of processors that this process may use.
#pragma once

#include <string_view>

namespace assay {

/// Processors in the affinity mask, or fewer where a control group (version 1 or 2) grants less processor
/// time than they have; at least 1. Determined at every call.
int available_cpus();

/// The processors that `cpu.max` of a control group grants: "max 100000" gives 0 (no limit), "150000 100000"
/// gives 2. 0 for a text that is neither.
int cpus_of_quota(std::string_view cpu_max);

}  // namespace assay
