// The subcommands of `assay surgeon`: one file cmd_surgeon_<name>.cpp each, listed in cmd_surgeon.cpp.
#pragma once

#include "cli/command.h"

namespace assay::cli {

extern constinit const Command kSurgeonExtractCommand;
extern constinit const Command kSurgeonSanitizeCommand;
extern constinit const Command kSurgeonInsertCommand;
extern constinit const Command kSurgeonConvertOpsetCommand;
extern constinit const Command kSurgeonPruneCommand;
extern constinit const Command kSurgeonWeightStripCommand;
extern constinit const Command kSurgeonWeightReconstructCommand;

}  // namespace assay::cli
