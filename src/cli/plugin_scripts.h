// Plugins whose pattern is a pattern.py: scripts, as config.yaml has them.
#pragma once

#include <memory>
#include <string>

#include "assay/graph.h"
#include "cli/registries.h"
#include "plugin/match.h"
#include "script/plugin_script.h"

namespace assay::cli {

/// The path of the pattern.py that decides for a plugin, which is that of a folder without a pattern.yaml;
/// else empty.
std::string plugin_script_of(const std::string& folder);

/// Where the script's plugin fits. Throws Error.
PluginMatches match_plugin_script(const std::string& path, const Model& model);
/// Has the script replace the instances in its own way: the changed model, and how many it replaced.
script::PluginScript::Replaced replace_by_script(script::PluginScript& script, const Model& model,
                                                 const PluginMatches& plugin, const Registries& registries);

}  // namespace assay::cli
