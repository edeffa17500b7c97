// The subcommands of `assay inspect`: one file cmd_inspect_<name>.cpp each, listed in cmd_inspect.cpp.
#pragma once

#include "cli/command.h"

namespace assay::cli {

ASSAY_DECLARE_COMMAND(inspect_model)
ASSAY_DECLARE_COMMAND(inspect_data)
ASSAY_DECLARE_COMMAND(inspect_sparsity)
ASSAY_DECLARE_COMMAND(inspect_diff)
ASSAY_DECLARE_COMMAND(inspect_capability)
ASSAY_DECLARE_COMMAND(inspect_builder)
ASSAY_DECLARE_COMMAND(inspect_tactics)
ASSAY_DECLARE_COMMAND(inspect_diff_tactics)
ASSAY_DECLARE_COMMAND(inspect_extensions)

}  // namespace assay::cli
