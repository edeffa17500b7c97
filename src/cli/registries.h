// The registries of the program: the entries of the manifests, and the additions of modules.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cli/command.h"
#include "extension/registries.h"
#include "script/session.h"

namespace assay::cli {

#define ASSAY_COMMAND(name) ASSAY_DECLARE_COMMAND(name)
#include "cli/commands.def"
#undef ASSAY_COMMAND

/// The commands of the program.
class CommandSet {
 public:
  /// Appends. `command` must live as long as the set; `owner`, if any, is kept until then. Throws Error when
  /// another command has its name.
  void add(const Command& command, std::shared_ptr<const void> owner = nullptr);

  /// In the order of --help.
  std::span<const Command* const> all() const { return commands_; }
  /// The command that these words name, as a path of subcommands; null when there is none.
  const Command* find(std::span<const std::string> path) const;

 private:
  std::vector<const Command*> commands_;
  std::vector<std::shared_ptr<const void>> owners_;
};

struct Registries : extension::Registries {
  /// Contains all entries of the manifests.
  Registries();

  /// A module brings options and commands, too: add_extension() of options/extensions.h adds it.
  void add(const std::shared_ptr<extension::Extension>& module) = delete;

  CommandSet commands;
  /// Options of `run` that Python packages add; filled on demand.
  script::RunPlugins plugins;
};

}  // namespace assay::cli
