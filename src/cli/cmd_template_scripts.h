// The subcommands of `assay template` that write source text.
#pragma once

#include "cli/command.h"

namespace assay::cli {

ASSAY_DECLARE_COMMAND(template_trt_network)
ASSAY_DECLARE_COMMAND(template_trt_config)
ASSAY_DECLARE_COMMAND(template_onnx_gs)
ASSAY_DECLARE_COMMAND(template_extension)

}  // namespace assay::cli
