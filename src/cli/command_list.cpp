#include "cli/command_list.h"

namespace assay::cli {

std::span<const Command* const> all_commands() {
  static constexpr const Command* kCommands[] = {
#define ASSAY_COMMAND(name) &command_##name::def,
#include "cli/commands.def"
#undef ASSAY_COMMAND
  };
  return kCommands;
}

}  // namespace assay::cli
