// Where a model has what a plugin replaces.
#pragma once

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "assay/graph.h"
#include "plugin/pattern_file.h"
#include "plugin/yaml.h"

namespace assay {

/// One place where a plugin's node is to stand.
struct PluginInstance {
  std::vector<std::string> inputs, outputs;  ///< names of tensors of the model
  YamlNode::Map attributes;
};

/// One document of a config.yaml.
struct PluginMatches {
  std::string name, op, domain;
  std::vector<PluginInstance> instances;
};

/// Which plugin has taken which nodes; shared by the plugins that are matched one after the other.
class PluginClaims {
 public:
  /// A match that was left out because it shares a node with another.
  struct Overlap {
    std::string plugin, node;               ///< the match left out, and where it begins: Node::label()
    std::string other_plugin, shared_node;  ///< the match that has the node, and the node
  };
  const std::vector<Overlap>& overlaps() const { return overlaps_; }

 private:
  friend class PluginMatching;
  struct Claim {
    std::string plugin;
    int64_t match;  ///< number, over all plugins
  };
  std::unordered_map<const Node*, Claim> nodes_;
  int64_t matches_ = 0;
  std::vector<Overlap> overlaps_;
};

/// The matches in the model's main graph, in the order of the nodes at which they begin. One that shares a
/// node (other than a Constant) with a match found before, of this or another plugin, is left out and noted
/// in `claims`. A condition that cannot be evaluated does not hold; a verbose line says why. The model's
/// types should have been inferred. Throws Error when an attribute cannot be computed.
PluginMatches match_plugin(const PluginPattern& pattern, const Model& model, PluginClaims& claims);

}  // namespace assay
