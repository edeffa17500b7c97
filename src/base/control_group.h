// What the process's control group lets it have of memory.
#pragma once

#include <cstdint>
#include <string>

namespace assay {

/// The smallest limit of the control group and of those around it, in both versions of the interface,
/// wherever their file systems are mounted; INT64_MAX where there is none. `root` stands before /proc and
/// /sys (tests, and the variable ASSAY_CONTROL_GROUP_ROOT).
int64_t control_group_limit(const std::string& root);

}  // namespace assay
