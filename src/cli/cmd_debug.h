// The subcommands of `assay debug`: one file cmd_debug_<name>.cpp each, listed in cmd_debug.cpp.
#pragma once

#include "cli/command.h"

namespace assay::cli {

ASSAY_DECLARE_COMMAND(debug_build)
ASSAY_DECLARE_COMMAND(debug_diverge)
ASSAY_DECLARE_COMMAND(debug_nan)
ASSAY_DECLARE_COMMAND(debug_passes)
ASSAY_DECLARE_COMMAND(debug_precision)
ASSAY_DECLARE_COMMAND(debug_range)
ASSAY_DECLARE_COMMAND(debug_reduce)
ASSAY_DECLARE_COMMAND(debug_repeat)
ASSAY_DECLARE_COMMAND(debug_tactics)
ASSAY_DECLARE_COMMAND(debug_versions)

}  // namespace assay::cli
