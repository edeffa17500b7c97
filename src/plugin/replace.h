// Putting a plugin's node in the place of the nodes that it stands for.
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
/// The new node computes the instance's outputs, which keep their names; what only the old nodes needed goes.
/// Nodes that something outside the instance still needs stay. The new node is called `<plugin>_<number>` and
/// remembers the nodes that it stands for (naming/origins.h). It stands in the instance's graph; inputs may
/// be values of the graphs around that.
class PluginReplacer {
 public:
  explicit PluginReplacer(Model& model);

  /// Empty when it was done; else the sentence that says why the instance is left alone: it shares nodes or
  /// outputs with one that was replaced before, or one of the two lies inside the other. Warns when the
  /// outputs depend on inputs of the graph, or on values around it, past the instance's inputs. Throws Error
  /// when there is neither a graph of its path nor a tensor of a name, an output is not computed there or not
  /// from the inputs, or an attribute has a value that ONNX cannot hold.
  std::string replace(const PluginMatches& plugin, const PluginInstance& instance);

  /// Removes what is not needed any more and puts the nodes of changed graphs, and of those around them, into
  /// order. Throws Error naming the nodes when a replacement has made a cycle.
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
  std::unordered_map<const Node*, std::string> replaced_;  ///< by which new node
  std::unordered_map<const Node*, const Node*> holders_;   ///< of new nodes in their subgraphs: one of them
  std::unordered_map<Graph*, NodeOrder> orders_;           ///< of graphs that got nodes
  std::vector<std::pair<const Node*, const GraphPlace*>> inserted_in_;
  std::unordered_set<const Node*> inserted_;
  std::unordered_set<std::string> node_names_;
  std::unordered_map<std::string, int64_t> counts_;
};

}  // namespace assay
