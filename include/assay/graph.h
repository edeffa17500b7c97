// The one intermediate representation: ONNX's graph as objects that may be edited, with ONNX-GraphSurgeon's
// concepts.
//
// A Model owns a Graph and local functions; a Graph owns its nodes and values; nodes and values know each
// other: every edit keeps Value::producer() and Value::consumers() consistent. A Constant of GraphSurgeon is
// a Value with tensor(); a Variable is one without. Pointers stay valid until the object is removed.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "assay/api.h"
#include "assay/tensor.h"
#include "assay/type.h"
#include "assay/unaligned_tensor.h"

namespace ASSAY_API assay {

class Graph;
class OpSet;
class Node;

/// Key and value pairs in file order (metadata_props).
using Metadata = std::vector<std::pair<std::string, std::string>>;

/// The TensorProto that a tensor was read from. Saving writes its bytes again (encoding, name, fields that
/// the IR does not model, the place of external data) as long as the tensor is unchanged.
struct TensorSource {
  std::string_view bytes;
  std::shared_ptr<const void> owner;  ///< of the bytes
  const void* data = nullptr;         ///< of the original tensor; null when its data were not loaded
  bool is_external = false;
  bool is_sparse = false;  ///< the bytes are a SparseTensorProto; the tensor is its dense form
};

/// A tensor of a model: input, output, intermediate result, or constant.
class Value {
 public:
  const std::string& name() const { return name_; }
  /// Throws Error (kInvalidArgument) when the graph has another value of that name.
  void rename(std::string name);

  Type type;
  std::string doc_string;
  Metadata metadata;
  std::string extra_fields;  ///< of its ValueInfoProto; see Model::extra_fields
  /// An initializer that the file also lists among the graph inputs (the rule before IR version 4).
  bool is_overridable = false;

  bool is_constant() const { return tensor_.defined() || is_missing_; }
  /// The constant's data, if the file has them; undefined for a Variable, and for an initializer whose
  /// external data were not loaded.
  const UnalignedTensor& tensor() const { return tensor_; }
  /// Makes this a constant of the tensor's type and shape. Throws Error (kInvalidArgument) when a node
  /// produces it, and for a container, which no initializer can hold.
  void set_tensor(UnalignedTensor tensor);
  /// Makes this a constant without data (external data ignored on request).
  void set_missing() { is_missing_ = true; }
  /// The file's record of the constant; null for one that was created or changed.
  const TensorSource* tensor_source() const { return tensor_source_.get(); }
  /// Call it after set_tensor() or set_missing(), which clear it.
  void set_tensor_source(std::shared_ptr<const TensorSource> source) { tensor_source_ = std::move(source); }
  const std::shared_ptr<const TensorSource>& shared_tensor_source() const { return tensor_source_; }
  /// Makes this a Variable again.
  void clear_tensor() {
    tensor_ = {};
    tensor_source_ = nullptr;
    is_missing_ = false;
  }

  /// The node that computes it; null for inputs and constants.
  Node* producer() const { return producer_; }
  /// One entry for each use as a node input, subgraph nodes included.
  const std::vector<Node*>& consumers() const {
    if (has_gone_.load(std::memory_order_acquire)) drop_gone();
    return consumers_;
  }
  Graph& graph() const { return *graph_; }

 private:
  friend class Graph;
  friend class Node;
  Value(Graph* graph, std::string name) : name_(std::move(name)), graph_(graph) {}

  /// A removed use that is still listed among the consumers: the node's last entry before a position.
  struct Gone {
    const Node* node;  ///< may have been deleted
    size_t before;
  };
  void remove_consumer(const Node* node);
  void drop_gone() const;

  std::string name_;
  Graph* graph_;
  UnalignedTensor tensor_;
  std::shared_ptr<const TensorSource> tensor_source_;
  bool is_missing_ = false;
  Node* producer_ = nullptr;
  // A constant may have as many uses as the graph has nodes. Removal of uses is deferred until the list is
  // read, which makes removing many of them cheap.
  mutable std::vector<Node*> consumers_;
  mutable std::vector<Gone> gone_;
  mutable std::atomic<bool> has_gone_ = false;  // models are read by several threads
};

/// ONNX AttributeProto.
struct Attribute {
  using Graphs = std::vector<std::shared_ptr<Graph>>;
  using Types = std::vector<Type>;
  /// Coordinate-format tensor: values at indices (linear or [nnz, rank]) of a tensor of extents dims.
  struct Sparse {
    Tensor values, indices;
    std::vector<int64_t> dims;
  };
  using Data =
      std::variant<std::monostate, float, int64_t, std::string, UnalignedTensor, std::shared_ptr<Graph>, Type,
                   Sparse, std::vector<float>, std::vector<int64_t>, std::vector<std::string>,
                   std::vector<Tensor>, Graphs, Types, std::vector<Sparse>>;

  std::string name;
  Data data;
  std::string ref_attr_name;  ///< inside a function body: the attribute of the call that supplies the value
  std::string doc_string;
  std::string extra_fields;  ///< see Model::extra_fields
  /// Records of the tensors in `data`, in order; null or shorter when they were not read from a file.
  std::shared_ptr<const std::vector<TensorSource>> tensor_sources;

  template <typename T>
  const T* get_if() const {
    return std::get_if<T>(&data);
  }
  /// FLOAT, INTS, GRAPH, ...: the name in AttributeProto.AttributeType.
  std::string_view type_name() const;
};

/// An operation. Omitted optional inputs and outputs are null.
class Node {
 public:
  std::string name;
  std::string op_type;
  std::string domain;  ///< "" for ai.onnx
  std::string overload;
  std::string doc_string;
  Metadata metadata;
  std::string extra_fields;  ///< see Model::extra_fields
  std::vector<Attribute> attributes;

  const std::vector<Value*>& inputs() const { return inputs_; }
  const std::vector<Value*>& outputs() const { return outputs_; }
  /// The value, or null when i is past the end or the slot is empty.
  Value* input(size_t i) const { return i < inputs_.size() ? inputs_[i] : nullptr; }
  Value* output(size_t i) const { return i < outputs_.size() ? outputs_[i] : nullptr; }

  void set_input(size_t i, Value* v);  ///< grows the list with nulls as needed
  void set_inputs(std::vector<Value*> inputs);
  /// The value must not have another producer.
  void set_output(size_t i, Value* v);
  void set_outputs(std::vector<Value*> outputs);

  const Attribute* find_attribute(std::string_view name) const;
  void set_attribute(std::string name, Attribute::Data data);
  void remove_attribute(std::string_view name);

  Graph& graph() const { return *graph_; }
  /// For messages: 'conv1' (Conv), or (Conv) producing 'y' when the node has no name.
  std::string label() const;

 private:
  friend class Graph;
  explicit Node(Graph* graph) : graph_(graph) {}

  std::vector<Value*> inputs_, outputs_;
  Graph* graph_;
};

/// Attributes given to Graph::add_node.
using AttributeList = std::vector<std::pair<std::string, Attribute::Data>>;

/// A graph or subgraph. Nodes are in file order, which import checks to be topological.
class Graph {
 public:
  Graph() = default;
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph();

  std::string name;
  std::string doc_string;
  Metadata metadata;
  std::vector<Value*> inputs;
  std::vector<Value*> outputs;
  /// ONNX TensorAnnotation: tensor name and its quantization parameters.
  std::vector<std::pair<std::string, Metadata>> quantization_annotations;
  std::string extra_fields;  ///< see Model::extra_fields
  /// Orders in the file, kept for saving: the inputs with overridable initializers, and the values with a
  /// value_info entry. Values that are not listed follow.
  std::vector<Value*> input_order, value_info_order;
  /// Index of the names that layer() generates (edit.h).
  int64_t name_index = 0;

  const std::vector<std::unique_ptr<Node>>& nodes() const { return nodes_; }
  const std::vector<std::unique_ptr<Value>>& values() const { return values_; }
  /// The graph whose node holds this one as attribute; null for a model's main graph and a function body.
  Graph* parent() const { return parent_; }
  void set_parent(Graph* parent) { parent_ = parent; }

  /// Throws Error (kInvalidModel) when the name exists.
  Value* add_value(std::string name, Type type = {});
  /// Null when the name exists.
  Value* try_add_value(std::string name);
  /// Reserves memory for that many values.
  void reserve_values(size_t count);
  Value* add_constant(std::string name, UnalignedTensor tensor);
  Value* add_input(std::string name, Type type);
  /// In this graph only; null when there is none.
  Value* find_value(std::string_view name) const;
  /// In this graph, else in the enclosing ones.
  Value* lookup(std::string_view name) const;
  /// A name that no value of this graph or an enclosing one has: `prefix` itself, or `prefix_N` with N of 1
  /// or more. N is the smallest that is free up to 16; beyond that, numbers may be skipped.
  std::string unique_name(std::string_view prefix) const;

  Node* add_node(std::string op_type, std::vector<Value*> inputs, std::vector<Value*> outputs,
                 AttributeList attributes = {}, std::string name = {}, std::string domain = {});
  /// As add_node, but placed before `position`.
  Node* insert_node(const Node* position, std::string op_type, std::vector<Value*> inputs,
                    std::vector<Value*> outputs, AttributeList attributes = {}, std::string name = {},
                    std::string domain = {});

  /// Detaches and deletes a node. Its outputs remain as values without a producer.
  void remove_node(Node* node);
  /// Deletes every node for which the predicate holds, in one pass.
  template <typename Pred>
  void remove_nodes_if(Pred pred) {
    for (auto& n : nodes_)
      if (pred(*n)) detach(*n);
    std::erase_if(nodes_, [](const std::unique_ptr<Node>& n) { return n->graph_ == nullptr; });
  }
  /// Deletes values that no node and no graph input or output refers to.
  void remove_unused_values();
  /// Replaces every use of `from`, including graph outputs, by `to`.
  void replace_uses(Value* from, Value* to);
  /// Reorders the nodes; deletes those that the order does not list.
  void reorder_nodes(std::span<Node* const> order);

 private:
  friend class Value;
  friend class Node;
  void detach(Node& node);
  /// Returns false and leaves the value with the caller if its name exists.
  bool take(std::unique_ptr<Value>&& value);

  std::vector<std::unique_ptr<Value>> values_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::unordered_map<std::string_view, Value*> index_;  // keys view Value::name_
  Graph* parent_ = nullptr;
};

/// "ai.onnx" is another name for the standard domain "".
inline std::string_view canonical_domain(std::string_view domain) {
  return domain == "ai.onnx" ? "" : domain;
}

struct OpsetImport {
  std::string domain;  ///< "" for ai.onnx
  int64_t version = 0;
  std::string extra_fields = {};  ///< see Model::extra_fields
};

/// A model-local function (ONNX FunctionProto). The body's inputs and outputs are its values.
struct Function {
  std::string domain, name, overload, doc_string;
  std::vector<std::string> attribute_names;   ///< required attributes
  std::vector<Attribute> attribute_defaults;  ///< attributes with a default
  std::vector<OpsetImport> opsets;
  Metadata metadata;
  std::string extra_fields;  ///< see Model::extra_fields
  std::unique_ptr<Graph> body = std::make_unique<Graph>();
};

/// ONNX ModelProto.
struct Model {
  std::unique_ptr<Graph> graph = std::make_unique<Graph>();
  std::vector<Function> functions;
  std::vector<OpsetImport> opsets;
  int64_t ir_version = 8;
  int64_t model_version = 0;
  std::string producer_name, producer_version, domain, doc_string;
  Metadata metadata;
  /// Fields of the file's message that this struct does not model, as protobuf bytes: those of newer ONNX
  /// versions, and strings that are present but empty. Saving writes them first, so that modelled fields win.
  std::string extra_fields;
  std::string path;  ///< the file it was read from; empty for one that was built
  /// The folder of its external data files; empty when it has none.
  std::string external_data_folder;
  /// The operator set of its nodes; null: the built-in one.
  std::shared_ptr<const OpSet> ops;

  /// The imported version of a domain; 0 when it is not imported. "ai.onnx" and "" are one domain.
  int64_t opset(std::string_view domain = "") const;
  const Function* find_function(std::string_view domain, std::string_view name,
                                std::string_view overload = "") const;

 private:
  friend Function& add_function(Model& model, std::string name, std::string domain);
  // Names and domains of the first functions, so that
  // add_function() does not search all of them each time.
  size_t seen_functions_ = 0;
  std::unordered_set<std::string> seen_names_;
};

}  // namespace assay
