// The commands that commands.def lists.
#pragma once

#include <span>

#include "cli/command.h"

namespace assay::cli {

#define ASSAY_COMMAND(name) ASSAY_DECLARE_COMMAND(name)
#include "cli/commands.def"
#undef ASSAY_COMMAND

std::span<const Command* const> all_commands();

}  // namespace assay::cli
