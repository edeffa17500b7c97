#include "cli/command_list.h"

namespace assay::cli {

#define ASSAY_COMMAND(constant) extern const Command constant;
#include "cli/commands.def"
#undef ASSAY_COMMAND

std::span<const Command* const> all_commands() {
  static constexpr const Command* kCommands[] = {
#define ASSAY_COMMAND(constant) &constant,
#include "cli/commands.def"
#undef ASSAY_COMMAND
  };
  return kCommands;
}

}  // namespace assay::cli
