// Plugins whose pattern is a script, pattern.py.
#pragma once

#include <memory>
#include <string>

#include "assay/graph.h"
#include "cli/registries.h"
#include "plugin/match.h"
#include "script/plugin_script.h"

namespace assay::cli {

/// The path of a plugin's pattern.py, which applies
/// if the folder has no pattern.yaml; else empty.
std::string plugin_script_of(const std::string& folder);

/// The matches of the script's plugin. Throws Error.
PluginMatches match_plugin_script(const std::string& path, const Model& model);
/// Lets the script replace the instances; returns the changed model and the number of replacements.
script::PluginScript::Replaced replace_by_script(script::PluginScript& script, const Model& model,
                                                 const PluginMatches& plugin, const Registries& registries);

}  // namespace assay::cli
