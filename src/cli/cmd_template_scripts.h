// The subcommands of `assay template` that write scripts.
#pragma once

#include "cli/command.h"

namespace assay::cli {

extern constinit const Command kTemplateTrtNetworkCommand;
extern constinit const Command kTemplateTrtConfigCommand;
extern constinit const Command kTemplateOnnxGsCommand;

}  // namespace assay::cli
