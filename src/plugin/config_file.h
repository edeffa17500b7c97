// config.yaml: the matches of `plugin match` for `plugin replace`, in upstream's format.
#pragma once

#include <string>
#include <vector>

#include "plugin/match.h"

namespace assay {

/// A document for each plugin that has instances. The domain is only written where it is not the default, and
/// the path of an instance's graph only where that is not the main graph.
std::string plugin_config_text(const std::vector<PluginMatches>& plugins);

/// Reads such a file; unknown keys are ignored, as in upstream. Throws Error naming file and
/// line.
std::vector<PluginMatches> load_plugin_config(const std::string& path);
std::vector<PluginMatches> parse_plugin_config(const std::string& text, const std::string& file);

}  // namespace assay
