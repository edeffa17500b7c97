// The subcommands of `assay inspect`: one file cmd_inspect_<name>.cpp each, listed in cmd_inspect.cpp.
#pragma once

#include "cli/command.h"

namespace assay::cli {

namespace command_inspect_model {
extern const Command def;
}
namespace command_inspect_data {
extern const Command def;
}
namespace command_inspect_sparsity {
extern const Command def;
}
namespace command_inspect_diff {
extern const Command def;
}
namespace command_inspect_capability {
extern const Command def;
}
namespace command_inspect_builder {
extern const Command def;
}
namespace command_inspect_tactics {
extern const Command def;
}
namespace command_inspect_diff_tactics {
extern const Command def;
}

}  // namespace assay::cli
