// The pattern of a plugin, read from the file pattern.yaml in its folder: docs/guide/plugins.md.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "assay/pattern.h"
#include "plugin/expression.h"
#include "plugin/yaml.h"

namespace assay {

inline constexpr const char* kPatternFile = "pattern.yaml";
/// Upstream's form of the same, which is Python.
inline constexpr const char* kPythonPatternFile = "pattern.py";

/// One node of a plugin's pattern. Tensors are named; an empty name is an omitted slot.
struct PluginPatternNode {
  std::string name, op;
  std::optional<std::string> domain;  ///< nothing: any
  std::vector<std::string> inputs, outputs;
};

/// An attribute of the node that replaces a match: literal, or computed from the match.
using PluginAttribute = std::variant<YamlNode, Expression>;

struct PluginPattern {
  std::string name;                                     ///< of the plugin
  std::string op, domain;                               ///< of the node that replaces a match
  std::vector<std::string> inputs, constants, outputs;  ///< tensors
  std::vector<PluginPatternNode> nodes;
  std::vector<Expression> conditions;           ///< all hold
  std::vector<std::string> replacement_inputs;  ///< tensors that the new node gets
  std::vector<std::pair<std::string, PluginAttribute>> attributes;

  /// The node of that name; null when there is none.
  const PluginPatternNode* find_node(std::string_view node) const;
};

/// `folder` is the plugin's folder, whose name is the plugin's name unless the file sets another. Throws
/// Error naming the file and the line: keys that are unknown or missing, names that are not defined, a node
/// that is not connected.
PluginPattern load_plugin_pattern(const std::string& folder);
/// The same for a text.
PluginPattern parse_plugin_pattern(const std::string& text, const std::string& file, const std::string& name);

}  // namespace assay
