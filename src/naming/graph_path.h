// The graphs of a model, and the paths that name them: the PATH of naming/selector.h.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "assay/graph.h"

namespace assay {

/// A graph of a model.
struct GraphPlace {
  Graph* graph = nullptr;
  std::string path;                    ///< empty for the main graph, and where `has_path` is false
  bool has_path = true;                ///< false where names are so alike that no path means this graph alone
  std::vector<const Node*> holders;    ///< the nodes around it, from the outermost in
  const Function* function = nullptr;  ///< null outside of local functions
};

/// The main graph, then all inside it, then the bodies of the local functions and all inside those; a graph
/// comes before those inside it. A node without a name of its own goes by the name of an output. Throws Error
/// when subgraphs nest too deep.
std::vector<GraphPlace> graph_places(const Model& model);

/// The rest of a spec after its path.
struct GraphSpec {
  Graph* graph;
  std::string_view spec;
};

/// Follows paths; keeps an index of the names of nodes, which must not change while it lives.
class GraphPaths {
 public:
  explicit GraphPaths(const Model& model) : model_(model) {}

  /// Names that a spec may refer to in a graph, in addition to subgraphs.
  enum class Kind : uint8_t { kTensor, kNode };

  /// Splits the path off a spec. A spec that is the name of a tensor (or
  /// node) has no path, whatever it contains. Throws Error (kNotFound)
  /// suggesting the nearest names for an unknown node or function.
  GraphSpec follow(std::string_view spec, Kind kind);
  /// The graph of a whole path; the main graph for an empty one. Throws the same.
  Graph* graph(std::string_view path);
  /// Follows one step; false when the rest is not a path.
  bool step(GraphSpec& place);
  /// The node that a step of a path names: the first of that name, else the one that computes the
  /// tensor of that name. Null when there is none.
  const Node* find_node(const Graph& g, std::string_view name);

 private:
  using Names = std::unordered_map<std::string_view, const Node*>;
  const Names& names(const Graph& g);
  bool step_into_function(GraphSpec& place) const;
  [[noreturn]] void fail_to_find_holder(const GraphSpec& place);

  const Model& model_;
  std::unordered_map<const Graph*, Names> names_;
};

}  // namespace assay
