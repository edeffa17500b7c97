// Which nodes of a model the engine can run, and the parts of the model that it can run as a whole.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "assay/graph.h"

namespace assay {

/// A node that cannot run.
struct UnsupportedNode {
  /// Calls of local functions that lead to it, outermost first: `call (Function)`.
  std::vector<std::string> stack;
  size_t index = 0;  ///< of the node of the main graph that it is, or that holds or calls it
  std::string op, name;
  std::string reason;
};

/// Every node that cannot run, in the order of the main graph: its operator, domain or version is unknown, it
/// breaks a rule of its operator, or its types do not fit. Bodies of control flow and local functions are
/// looked into. Infers the types of the model's values as far as they can be known.
std::vector<UnsupportedNode> find_unsupported(Model& model);

/// Neighbours in the order of the main graph: nodes [begin, end).
struct NodeRange {
  size_t begin = 0, end = 0;
  bool is_supported = true;
};
/// The whole graph cut into the longest ranges of nodes that can run and of nodes that cannot.
std::vector<NodeRange> partition(const Model& model, const std::vector<UnsupportedNode>& unsupported);

/// Upstream's table of nodes, ended by a newline: Stack trace | Operator | Node | Reason.
std::string unsupported_nodes_text(const std::vector<UnsupportedNode>& unsupported);
/// Upstream's table of ranges, ended by a newline: Operator | Count | Reason | Nodes. The operator is that of
/// a range's first node; the reasons are those of all its nodes.
std::string unsupported_ranges_text(const Model& model, const std::vector<NodeRange>& ranges,
                                    const std::vector<UnsupportedNode>& unsupported);

}  // namespace assay
