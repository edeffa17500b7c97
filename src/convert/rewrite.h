// The interface of adapters: reads and rewrites one node.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/graph.h"
#include "convert/constant_finder.h"
#include "graph/read.h"
#include "graph/uses.h"

namespace assay {

/// Thrown by adapters: the target version cannot express the node. The sentence names the attribute, input or
/// type.
struct NoEquivalent {
  std::string reason;
};

template <typename... Args>
[[noreturn]] void no_equivalent(fmt::format_string<Args...> format, Args&&... args) {
  throw NoEquivalent{fmt::format(format, std::forward<Args>(args)...)};
}

/// The maximum number of elements of one constant by an adapter, because a file can declare any extents at no
/// cost.
inline constexpr int64_t kMaxListed = int64_t{1} << 24;
/// The number; NoEquivalent, naming it as `what`, when it is negative or more than kMaxListed.
inline int64_t listable(int64_t n, std::string_view what) {
  if (n < 0 || n > kMaxListed) no_equivalent("{} {}, too many to be written out,", n, what);
  return n;
}
/// The elements of a shape, with this bound.
int64_t listable(const Shape& shape, std::string_view what);

/// Where the new nodes of a conversion are kept until its end, when the nodes of each graph are put in order.
class RewriteSink {
 public:
  virtual ~RewriteSink() = default;
  /// A node that was just made next to `anchor`, valid in `opset`. It gives its outputs their types.
  virtual void added(Node& node, const Node& anchor, bool after, int64_t opset) = 0;
  /// A node in a new subgraph, valid in `opset`.
  virtual void added_inside(Node& node, int64_t opset) = 0;
  /// A replaced node, which has no inputs and outputs any more.
  virtual void removed(Node& node) = 0;
  virtual void note(const Node& node, std::string text) = 0;
  virtual ConstantFinder& constants() = 0;
  /// Of the graphs of the model.
  virtual OutputIndex& outputs() = 0;
  /// That the model may have.
  virtual const OpSet& ops() const = 0;
  /// Constants must be nodes: inside functions.
  virtual bool wants_constant_nodes(const Graph& graph) const = 0;
};

/// One node being converted by an adapter. The reading functions throw NoEquivalent if the value is not
/// known.
class Rewrite {
 public:
  /// `opset`: the one in which the node will be valid, and new nodes are, unless set_opset() changes it.
  Rewrite(Node& node, int64_t opset, RewriteSink& sink) : node_(node), opset_(opset), sink_(sink) {}

  Node& node() const { return node_; }
  int64_t opset() const { return opset_; }
  /// Later new nodes are for that opset of the node's domain; they are converted further.
  void set_opset(int64_t opset) { opset_ = opset; }
  void note(std::string text) { sink_.note(node_, std::move(text)); }
  const OpSet& ops() const { return sink_.ops(); }

  /// Null when left out.
  Value* input(size_t i) const { return node_.input(i); }
  Value* output(size_t i) const { return node_.output(i); }
  /// True when the output has a reader or is a graph output.
  bool is_used(size_t i) const;

  /// Attributes. A reference to a function's attribute has no value here: NoEquivalent.
  bool has(std::string_view name) const { return find(name) != nullptr; }
  int64_t get_int(std::string_view name, int64_t fallback) const;
  double get_float(std::string_view name, double fallback) const;
  std::string get_string(std::string_view name, std::string_view fallback) const;
  std::vector<int64_t> get_ints(std::string_view name) const;
  /// Renames it; does nothing when there is none.
  void rename_attribute(std::string_view from, std::string_view to);

  /// The rank, extents or element type of input i; NoEquivalent when not known.
  int rank(size_t i) const;
  Shape shape(size_t i) const;
  DType dtype(size_t i) const;
  /// An axis counted from the front; NoEquivalent when that needs an unknown rank.
  int64_t front_axis(int64_t axis, size_t i) const;

  /// The value of an initializer or of a Constant node, Identity nodes looked through; nothing otherwise.
  std::optional<Tensor> constant_value(const Value* v) const { return sink_.constants().value(v); }
  /// Input i as constant; NoEquivalent naming it as `name`.
  Tensor constant_input(size_t i, std::string_view name) const;
  std::vector<int64_t> constant_ints(size_t i, std::string_view name) const;

  /// A constant of the node's graph.
  Value* constant(UnalignedTensor tensor, std::string_view hint);
  Value* ints(const std::vector<int64_t>& values, std::string_view hint) {
    return constant(Tensor::vector(values), hint);
  }
  /// A number of an element type, of rank 0.
  Value* number(double value, DType dtype, std::string_view hint = "number");
  /// Numbers of an element type, of rank 1.
  Value* numbers(const std::vector<double>& values, DType dtype, std::string_view hint);

  /// A new node before this one, and its output.
  Value* add(std::string op_type, std::vector<Value*> inputs, AttributeList attributes = {});
  std::vector<Value*> add_multi(std::string op_type, std::vector<Value*> inputs, AttributeList attributes,
                                size_t outputs);
  /// A copy of this node with other inputs and one output, before it.
  Value* add_like_this(std::vector<Value*> inputs);
  /// A node in a subgraph that the adapter makes.
  Value* add_inside(Graph& graph, std::string op_type, std::vector<Value*> inputs,
                    AttributeList attributes = {});
  /// The node's output i gets a new value, to be processed further; the old one waits for give().
  Value* take_output(size_t i);
  /// A new node after this one computes `old`, a value detached by take_output().
  void give(Value* old, std::string op_type, std::vector<Value*> inputs, AttributeList attributes = {});
  /// Replaces the outputs by these values and removes the node. Null for an unused output.
  void replace(const std::vector<Value*>& values);
  /// Replaces the only output by this constant and removes the node.
  void become_constant(UnalignedTensor tensor);

 private:
  const Attribute* find(std::string_view name) const;
  std::string value_name(std::string_view hint) const;
  Node* make(std::string op_type, std::vector<Value*> inputs, std::vector<Value*> outputs,
             AttributeList attributes, bool after);

  Node& node_;
  int64_t opset_;
  RewriteSink& sink_;
  std::vector<Node*> made_;
};

/// The value in that element type: itself when it is known to have it.
Value* cast(Rewrite& r, Value* v, DType to);

}  // namespace assay
