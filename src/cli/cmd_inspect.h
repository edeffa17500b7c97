// The subcommands of `assay inspect`: one file cmd_inspect_<name>.cpp each, listed in cmd_inspect.cpp.
#pragma once

#include "cli/command.h"

namespace assay::cli {

extern constinit const Command kInspectModelCommand;
extern constinit const Command kInspectDataCommand;
extern constinit const Command kInspectSparsityCommand;
extern constinit const Command kInspectDiffCommand;
extern constinit const Command kInspectCapabilityCommand;
extern constinit const Command kInspectBuilderCommand;
extern constinit const Command kInspectTacticsCommand;
extern constinit const Command kInspectDiffTacticsCommand;

}  // namespace assay::cli
