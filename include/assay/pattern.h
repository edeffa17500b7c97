// Finding subgraphs: GraphSurgeon's GraphPattern.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "assay/api.h"
#include "assay/graph.h"

namespace ASSAY_API assay {

class PatternMapping;

/// A pattern of connected nodes. The members below return numbers that identify tensors. As in GraphSurgeon,
/// numbers of inputs and outputs are exact, and operands are ordered: Add(a, b) and Add(b, a)
/// are two patterns.
class GraphPattern {
 public:
  using TensorId = int;
  using Check = std::function<bool(const Node&)>;

  GraphPattern() = default;
  GraphPattern(const GraphPattern&) = default;
  GraphPattern& operator=(const GraphPattern&) = default;

  /// An input of the pattern: any value. Different inputs may be the same value.
  TensorId variable();
  /// An operand that must be a constant (an initializer; a Constant node is a node of its own).
  TensorId constant(std::string name = {});
  /// A node of this operator for which `check` holds. Returns its outputs.
  std::vector<TensorId> add(std::string name, std::string op_type, std::vector<TensorId> inputs,
                            size_t outputs = 1, Check check = {});
  /// A pattern in place of a node: `inputs` stand for its variables, in order.
  std::vector<TensorId> add(std::string name, const GraphPattern& pattern, std::vector<TensorId> inputs);
  /// The values that may be used outside the match, including in subgraphs. Others must neither be used there
  /// nor be outputs of the graph or of a graph inside it.
  void set_outputs(std::vector<TensorId> outputs) { outputs_ = std::move(outputs); }

  /// Every place of the graph where the pattern fits, in the order of the node that consumes the first
  /// variable. All nodes of a match are of this graph; variables and constants may match outer values of a
  /// subgraph. Matches may overlap. Throws Error (kInvalidArgument) when the pattern
  /// has no variable or no node.
  std::vector<PatternMapping> match_all(const Graph& graph) const;

 private:
  friend class PatternMatcher;
  struct Step {
    std::string name, op_type;
    std::shared_ptr<const GraphPattern> pattern;  // null: a single node
    std::vector<TensorId> inputs, outputs;
    Check check;
  };
  int tensors_ = 0;
  std::vector<TensorId> variables_, outputs_;
  std::map<TensorId, std::string> constants_;
  std::vector<Step> steps_;
};

/// A match of a pattern.
class PatternMapping {
 public:
  /// The node matched by a pattern node; null when the pattern has no node of that name.
  Node* node(std::string_view name) const;
  /// The mapping of an inner pattern; null when there is none of that name.
  const PatternMapping* pattern(std::string_view name) const;
  /// All nodes, those of inner patterns included, in the pattern's order.
  std::vector<Node*> nodes() const;
  /// The values of the pattern's variables, and of its outputs.
  const std::vector<Value*>& inputs() const { return inputs_; }
  const std::vector<Value*>& outputs() const { return outputs_; }
  /// The constant matched by a pattern constant; null when there is none of that name.
  Value* constant(std::string_view name) const;

 private:
  friend class PatternMatcher;
  std::vector<std::pair<std::string, Node*>> nodes_;
  std::vector<std::pair<std::string, PatternMapping>> patterns_;
  std::vector<std::pair<std::string, Value*>> constants_;
  std::vector<Value*> inputs_, outputs_;
};

/// Replaces every match. For each match, `build` adds nodes to the end of the
/// graph that compute the mapping's outputs, as layer() does; they are then moved to the position of the
/// match's last node, and the nodes of the match are removed. While `build` runs, those still have their
/// attributes, but no inputs and outputs. A match that shares a node with an earlier one is skipped. The
/// graph is not sorted: toposort() it when outputs of a match are used between its nodes. Returns how many
/// matches were replaced. Throws Error (kInvalidArgument) when an output of a match that is used is left
/// without a producer.
int64_t replace_all(Graph& graph, const GraphPattern& pattern,
                    const std::function<void(Graph&, const PatternMapping&)>& build);

}  // namespace assay
