// Shared by the subcommands of `assay plugin`; `autotune` has a file of its own.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "assay/graph.h"
#include "cli/command.h"
#include "plugin/match.h"
#include "script/plugin_script.h"

namespace assay::cli {

ASSAY_DECLARE_COMMAND(plugin_autotune)

/// --plugin-dir, --include and --exclude.
std::vector<Option> plugin_choice_options();

/// The model with the outputs that the options request. Throws Error naming the file.
std::shared_ptr<Model> load_plugin_model(const ParsedArgs& args, const std::string& path,
                                         const Registries& registries);
/// The matches of the chosen plugins; logs the number of each. Throws Error.
std::vector<PluginMatches> find_plugin_matches(const ParsedArgs& args, const std::string& path,
                                               const Registries& registries);
/// Writes a config.yaml.
void save_plugin_matches(const std::vector<PluginMatches>& found, const std::string& path);
/// Its default path.
std::string plugin_config_beside(const std::string& model_path);
/// The script of a plugin with its own replacement (replace_with_plugin); null for others. Throws
/// Error.
std::shared_ptr<script::PluginScript> own_replacement(const ParsedArgs& args, const std::string& plugin);

}  // namespace assay::cli
