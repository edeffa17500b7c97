// The subcommands of `assay surgeon`: one file cmd_surgeon_<name>.cpp each, listed in cmd_surgeon.cpp.
#pragma once

#include "cli/command.h"

namespace assay::cli {

namespace command_surgeon_extract {
extern const Command def;
}
namespace command_surgeon_sanitize {
extern const Command def;
}
namespace command_surgeon_insert {
extern const Command def;
}
namespace command_surgeon_convert_opset {
extern const Command def;
}
namespace command_surgeon_prune {
extern const Command def;
}
namespace command_surgeon_weight_strip {
extern const Command def;
}
namespace command_surgeon_weight_reconstruct {
extern const Command def;
}

}  // namespace assay::cli
