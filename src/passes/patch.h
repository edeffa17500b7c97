// An edit of a graph, described before it is made.
#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "assay/graph.h"
#include "graph/node_order.h"

namespace assay {

/// Context of a node for a pass.
struct PassContext {
  const Model& model;
  /// Values that must keep their names: graph outputs and outputs of subgraphs.
  std::unordered_set<const Value*> pinned;

  explicit PassContext(const Model& m);
  bool is_pinned(const Value* v) const { return pinned.contains(v); }
  /// The only node that uses the value, in the graph of the value; null when there are more uses, none, or it
  /// is pinned.
  const Node* sole_consumer(const Value* v) const;
  /// True for a value with more uses than any pattern has nodes, when it was first queried. Reading
  /// Value::consumers() of such a value after each edit would take linear time.
  bool is_widely_used(const Value* v) const;
  /// True when uses of `from` may become uses of `to`: a pinned value keeps its name, so the producer of `to`
  /// takes the name over, which needs a producer and a name without other dependents.
  bool can_replace(const Value* from, const Value* to) const;

 private:
  mutable std::unordered_set<const Value*> widely_used_;
};

/// Nodes to add, nodes to remove, values to replace. Built on a const graph; apply() makes the edit. Every
/// new node gets the origins of all removed nodes.
class Patch {
 public:
  /// A value of the graph or one created by the patch; null for an omitted input.
  struct Ref {
    Value* value = nullptr;
    int made = -1;
    Ref() = default;
    Ref(Value* v) : value(v) {}  // NOLINT: values are refs
    static Ref to_made(int index) {
      Ref r;
      r.made = index;
      return r;
    }
  };

  /// New nodes are inserted at `anchor`, so all their inputs must precede it.
  explicit Patch(const Node& anchor) : anchor_(const_cast<Node*>(&anchor)) {}

  /// A new initializer.
  Ref constant(std::string hint, Tensor tensor);
  /// A new node with one output: a value taken over from
  /// a removed node, or a fresh one of the given type.
  Ref add(std::string op_type, std::vector<Ref> inputs, AttributeList attributes = {},
          Value* output = nullptr, Type type = {}, std::string domain = {});
  /// A new node with a fresh output of each of these types.
  std::vector<Ref> add_fresh(std::string op_type, std::vector<Ref> inputs, AttributeList attributes,
                             std::vector<Type> types, std::string domain = {});
  /// A new node whose outputs are taken over from removed nodes.
  void add_multi(std::string op_type, std::vector<Ref> inputs, AttributeList attributes,
                 std::vector<Value*> outputs, std::string domain = {});
  void remove(const Node& node);
  /// All uses of `from` become uses of `to`; see PassContext::can_replace.
  void replace(const Value* from, Ref to) { replaced_.push_back({const_cast<Value*>(from), to}); }
  /// The name of the new nodes; by default that of the first removed node.
  void set_name(std::string name) { name_ = std::move(name); }

  const std::vector<Node*>& removed() const { return removed_; }
  /// Makes the edit except for the order of the graph's nodes, which the caller commits after all edits.
  void apply(const PassContext& context, NodeOrder& order);

 private:
  struct NewConstant {
    std::string hint;
    Tensor tensor;
    int index;
  };
  struct NewNode {
    std::string op_type, domain;
    std::vector<Ref> inputs;
    AttributeList attributes;
    std::vector<Value*> outputs;
    std::vector<Type> types;  // of fresh outputs, if there are no others
    int first = -1;           // of these in made_
  };
  struct Replacement {
    Value* from;
    Ref to;
  };
  Value* resolve(const Ref& ref) const {
    return ref.made >= 0 ? made_[static_cast<size_t>(ref.made)] : ref.value;
  }

  Node* anchor_;
  std::string name_;
  std::vector<NewConstant> constants_;
  std::vector<NewNode> nodes_;
  std::vector<Node*> removed_;
  std::vector<Replacement> replaced_;
  std::vector<Value*> made_;
};

}  // namespace assay
