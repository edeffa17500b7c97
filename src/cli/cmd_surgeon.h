// The subcommands of `assay surgeon`: one file cmd_surgeon_<name>.cpp each, listed in cmd_surgeon.cpp.
#pragma once

#include "cli/command.h"

namespace assay::cli {

ASSAY_DECLARE_COMMAND(surgeon_extract)
ASSAY_DECLARE_COMMAND(surgeon_sanitize)
ASSAY_DECLARE_COMMAND(surgeon_insert)
ASSAY_DECLARE_COMMAND(surgeon_convert_opset)
ASSAY_DECLARE_COMMAND(surgeon_prune)
ASSAY_DECLARE_COMMAND(surgeon_weight_strip)
ASSAY_DECLARE_COMMAND(surgeon_weight_reconstruct)

}  // namespace assay::cli
