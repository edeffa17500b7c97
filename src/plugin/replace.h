// Replaces matched nodes by a plugin's node.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "assay/graph.h"
#include "graph/node_order.h"
#include "naming/graph_path.h"
#include "plugin/match.h"

namespace assay {

/// Replaces instance after instance, then finish().
///
/// The new node computes the instance's outputs, which keep their names; nodes that become unused are
/// removed, and those still used outside the instance stay. The new node is named `<plugin>_<number>` and
/// records the nodes that it replaces (naming/origins.h). It is in the instance's graph; inputs may be values
/// of enclosing graphs.
class PluginReplacer {
 public:
  explicit PluginReplacer(Model& model);

  /// Empty on success; else a sentence why the instance is skipped: it shares nodes or outputs with an
  /// earlier one, or one of the two is inside the other. Warns when the
  /// outputs depend on inputs of the graph, or on values around it, past the instance's inputs. Throws Error
  /// when there is neither a graph of its path nor a tensor of a name, an output is not computed there or not
  /// from the inputs, or an attribute has a value that ONNX cannot hold.
  std::string replace(const PluginMatches& plugin, const PluginInstance& instance);

  /// Removes unused nodes and sorts the nodes of changed graphs and of those around them. Throws Error naming
  /// the nodes when a replacement has created a cycle.
  void finish();

 private:
  struct Region;
  const GraphPlace& find_place(const std::string& path);
  std::string find_overlap(const GraphPlace& place, const std::vector<Value*>& outputs) const;
  std::string find_overlap(const Region& region) const;
  std::string node_name(const std::string& plugin);

  Model& model_;
  GraphPaths paths_;
  std::unordered_map<const Graph*, GraphPlace> places_;
  std::unordered_map<const Node*, std::string> replaced_;  ///< by this new node
  std::unordered_map<const Node*, const Node*> holders_;   ///< of new nodes in their subgraphs: one of them
  std::unordered_map<Graph*, NodeOrder> orders_;           ///< of graphs that got nodes
  std::vector<std::pair<const Node*, const GraphPlace*>> inserted_in_;
  std::unordered_set<const Node*> inserted_;
  std::unordered_set<std::string> node_names_;
  std::unordered_map<std::string, int64_t> counts_;
};

}  // namespace assay
