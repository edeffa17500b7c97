#include "cli/registries.h"

#include <algorithm>

#include "assay/error.h"
#include "cli/options/extensions.h"

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

Registries::Registries()
    : ops(std::make_shared<OpSet>(built_in_ops())),
      passes(std::make_shared<PassSet>(built_in_passes())),
      tactics(std::make_shared<engine::TacticSet>(engine::built_in_tactics())),
      backends(built_in_backends()) {
#define ASSAY_COMMAND(name) commands.add(command_##name::def);
#include "cli/commands.def"
#undef ASSAY_COMMAND
}

void Registries::add(const std::shared_ptr<extension::Extension>& module) {
  try {
    for (const auto& other : extensions)
      require(other->info().name != module->info().name, ErrorCode::kInvalidArgument,
              "there is an extension of that name already: {}", other->info().path);
    Registries changed = *this;
    changed.ops = std::make_shared<OpSet>(*ops);
    changed.passes = std::make_shared<PassSet>(*passes);
    changed.tactics = std::make_shared<engine::TacticSet>(*tactics);
    extension::add_operators(module, *changed.ops);
    extension::add_passes(module, *changed.passes);
    extension::add_tactics(module, *changed.tactics);
    extension::add_runners(module, changed.backends);
    add_extension_commands(module, changed.commands);
    check_extension_options(*module, *this);
    changed.extensions.push_back(module);
    *this = std::move(changed);
  } catch (Error& e) {
    e.add_context(fmt::format("in the extension '{}' ({})", module->info().name, module->info().path));
    throw;
  }
}

RuntimeOptions Registries::for_runtime() const { return {.ops = ops, .passes = passes, .tactics = tactics}; }

void Registries::give_to(SessionOptions& options) const {
  options.ops = ops;
  options.passes = passes;
  options.tactics = tactics;
}

}  // namespace assay::cli
