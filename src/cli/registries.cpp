#include "cli/registries.h"

#include <algorithm>

#include "assay/error.h"

namespace assay::cli {

void CommandSet::add(const Command& command, std::shared_ptr<const void> owner) {
  require(std::none_of(commands_.begin(), commands_.end(),
                       [&](const Command* c) { return c->name == command.name; }),
          ErrorCode::kInvalidArgument, "there is a command '{}' already", command.name);
  commands_.push_back(&command);
  if (owner != nullptr) owners_.push_back(std::move(owner));
}

const Command* CommandSet::find(std::span<const std::string> path) const {
  std::span<const Command* const> level = commands_;
  const Command* found = nullptr;
  for (const std::string& name : path) {
    const auto it =
        std::find_if(level.begin(), level.end(), [&](const Command* c) { return c->name == name; });
    if (it == level.end()) return nullptr;
    found = *it;
    level = found->subcommands;
  }
  return found;
}

Registries::Registries() {
#define ASSAY_COMMAND(name) commands.add(command_##name::def);
#include "cli/commands.def"
#undef ASSAY_COMMAND
}

}  // namespace assay::cli
