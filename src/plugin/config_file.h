// config.yaml: what `plugin match` found and `plugin replace` carries out, in upstream's form.
#pragma once

#include <string>
#include <vector>

#include "plugin/match.h"

namespace assay {

/// A document for each plugin that has instances. The domain is only written where it is not the default, and
/// the path of an instance's graph only where that is not the main graph.
std::string plugin_config_text(const std::vector<PluginMatches>& plugins);

/// Reads such a file; keys that are unknown are passed over, as upstream does. Throws Error naming file and
/// line.
std::vector<PluginMatches> load_plugin_config(const std::string& path);
std::vector<PluginMatches> parse_plugin_config(const std::string& text, const std::string& file);

}  // namespace assay
