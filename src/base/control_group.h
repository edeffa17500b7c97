// The memory limit of the process's control group.
#pragma once

#include <cstdint>
#include <string>

namespace assay {

/// The smallest limit of the control group and its ancestors, in both versions of the interface, wherever
/// their file systems are mounted; INT64_MAX without a limit. `root` is prepended to /proc and /sys (tests,
/// and the variable ASSAY_CONTROL_GROUP_ROOT).
int64_t control_group_limit(const std::string& root);

}  // namespace assay
