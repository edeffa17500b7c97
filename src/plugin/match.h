// Finds the subgraphs of a model that a plugin replaces.
#pragma once

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "assay/graph.h"
#include "plugin/pattern_file.h"
#include "plugin/yaml.h"

namespace assay {

/// A match that a plugin's node will replace.
struct PluginInstance {
  /// Names of tensors: outputs of the graph, inputs also of the graphs around it.
  std::vector<std::string> inputs, outputs;
  YamlNode::Map attributes;
  std::string graph = {};  ///< path of the graph (naming/graph_path.h); empty for the main graph
};

/// One document of a config.yaml.
struct PluginMatches {
  std::string name, op, domain;
  std::vector<PluginInstance> instances;
};

/// Nodes claimed by plugins; shared by plugins that are matched in sequence.
class PluginClaims {
 public:
  /// A match that was rejected because it shares a node with another, or because one of the two is in a
  /// subgraph of the other's node.
  struct Overlap {
    std::string plugin, node;               ///< the rejected match, and its first node
    std::string other_plugin, shared_node;  ///< the match that has the node, and the node
  };
  const std::vector<Overlap>& overlaps() const { return overlaps_; }

  /// Matches in a graph without a unique path.
  struct Unnamed {
    std::string plugin, node;  ///< where the match begins
  };
  const std::vector<Unnamed>& unnamed() const { return unnamed_; }

 private:
  friend class PluginMatching;
  struct Claim {
    std::string plugin;
    int64_t match;  ///< number, over all plugins
  };
  std::unordered_map<const Node*, Claim> nodes_;
  /// Of the nodes whose subgraphs hold nodes of a match: one such match.
  std::unordered_map<const Node*, Claim> holders_;
  int64_t matches_ = 0;
  std::vector<Overlap> overlaps_;
  std::vector<Unnamed> unnamed_;
};

/// The matches in the main graph, then those in graph after graph inside it and in local functions
/// (graph_places()), in the order of the nodes at which they begin. One that overlaps with an earlier match,
/// of this or another plugin, is rejected and recorded in `claims`; Constant nodes may be shared. A condition
/// that cannot be evaluated is false; a verbose line tells the reason. The model's
/// types should have been inferred. Throws Error when an attribute cannot be computed.
PluginMatches match_plugin(const PluginPattern& pattern, const Model& model, PluginClaims& claims);

}  // namespace assay
