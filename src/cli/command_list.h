// The commands that commands.def lists.
#pragma once

#include <span>

#include "cli/command.h"

namespace assay::cli {

std::span<const Command* const> all_commands();

}  // namespace assay::cli
