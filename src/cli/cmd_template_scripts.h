// The subcommands of `assay template` that write text.
#pragma once

#include "cli/command.h"

namespace assay::cli {

ASSAY_DECLARE_COMMAND(template_trt_network)
ASSAY_DECLARE_COMMAND(template_trt_config)
ASSAY_DECLARE_COMMAND(template_onnx_gs)
ASSAY_DECLARE_COMMAND(template_extension)
ASSAY_DECLARE_COMMAND(template_shard_hints)

}  // namespace assay::cli
