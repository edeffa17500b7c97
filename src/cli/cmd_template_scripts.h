// The subcommands of `assay template` that write scripts.
#pragma once

#include "cli/command.h"

namespace assay::cli {

namespace command_template_trt_network {
extern const Command def;
}
namespace command_template_trt_config {
extern const Command def;
}
namespace command_template_onnx_gs {
extern const Command def;
}

}  // namespace assay::cli
