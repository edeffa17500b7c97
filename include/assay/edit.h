// Editing graphs with the operations of ONNX-GraphSurgeon.
//
// GraphSurgeon's Graph, Node, Variable and Constant are Graph, Node and Value of graph.h; its operations on
// whole graphs are here. Where GraphSurgeon has a known bug, the function documents how it differs.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "assay/api.h"
#include "assay/graph.h"

namespace ASSAY_API assay {

/// The values of a graph, each once: its inputs, then the inputs and outputs of node after node, then its
/// outputs. Values that only subgraphs use are not among them.
std::vector<Value*> tensors(const Graph& graph);

/// The graphs among the attributes of the graph's nodes, in order; with `recursive` also those inside them.
std::vector<Graph*> subgraphs(const Graph& graph, bool recursive = false);

/// GraphSurgeon's Node.i(): the node that computes an input; null when there is none.
Node* producer_node(const Node& node, size_t input = 0);
/// GraphSurgeon's Node.o(): the consumer number `which` of an output, in the order in which they were
/// attached; null when there is none.
Node* consumer_node(const Node& node, size_t which = 0, size_t output = 0);

/// Detaches a value from the node that computes it, whose other outputs keep their positions. Does nothing
/// for a value without a producer.
void detach_from_producer(Value& value);

struct CleanupOptions {
  /// Remove unused outputs. Trailing ones are removed; one before a used output becomes an empty slot, so
  /// that positions keep their meaning (GraphSurgeon closes the gap).
  bool remove_unused_node_outputs = false;
  bool remove_unused_graph_inputs = false;
  bool recurse_subgraphs = true;
  bool recurse_functions = true;  ///< of a model
  /// Whether an unused output of a node may be removed; by default all may. Should return false where the
  /// number of outputs has a meaning, as in Split.
  std::function<bool(const Node&, size_t)> is_optional_output;
};

/// Removes the nodes that contribute to no graph output, and constants that nothing uses. Nodes that compute
/// a graph input are detached from it first. Keeps the order of nodes and all graph outputs, including those
/// without a producer. Returns the number of nodes removed.
int64_t cleanup(Graph& graph, const CleanupOptions& options = {});
/// The main graph and the functions.
int64_t cleanup(Model& model, const CleanupOptions& options = {});

/// The items that toposort() orders.
enum class SortMode : uint8_t {
  kFull,       ///< nodes and functions
  kNodes,      ///< nodes only
  kFunctions,  ///< functions only: each before those that call it
};

struct SortOptions {
  SortMode mode = SortMode::kFull;
  bool recurse_subgraphs = true;
  bool recurse_functions = true;
};

/// Orders nodes by level: 0 for those that depend on no other, else one more than the highest level they
/// depend on, through values that their subgraphs capture too. Within a level nodes are in the order in which
/// a depth-first traversal of the list finishes them. Throws Error (kInvalidModel) that names the nodes or
/// functions of a cycle.
void toposort(Graph& graph, bool recurse_subgraphs = true);
void toposort(Model& model, const SortOptions& options = {});

/// An input or output of a layer: a value; a name, which becomes a new Variable `<name>_<index>`; a tensor,
/// which becomes the constant `onnx_graphsurgeon_constant_<index>`; or numbers, which become the constant
/// `onnx_graphsurgeon_lst_constant_<index>`, float32 if they are written as floating-point numbers, else
/// int64. A null value is an input that is left out.
class LayerArgument {
 public:
  LayerArgument(Value* v) : data_(v) {}  // NOLINT: everything here is an argument
  LayerArgument(std::nullptr_t) : data_(static_cast<Value*>(nullptr)) {}  // NOLINT
  LayerArgument(std::string name) : data_(std::move(name)) {}             // NOLINT
  LayerArgument(const char* name) : data_(std::string(name)) {}           // NOLINT
  LayerArgument(Tensor t) : data_(std::move(t)) {}                        // NOLINT
  LayerArgument(std::vector<int64_t> numbers);                            // NOLINT
  LayerArgument(std::vector<double> numbers);                             // NOLINT
  LayerArgument(int number) : LayerArgument(int64_t{number}) {}           // NOLINT
  LayerArgument(int64_t number);                                          // NOLINT
  LayerArgument(double number);                                           // NOLINT

 private:
  friend class LayerNames;
  std::variant<Value*, std::string, Tensor> data_;
  bool is_list_ = false;
};
using LayerArguments = std::vector<LayerArgument>;

/// Optional properties of a layer.
struct LayerSpec {
  AttributeList attributes;
  std::string name;  ///< empty: `onnx_graphsurgeon_node_<index>`
  std::string domain;
};

/// Appends a node with these arguments and returns its outputs. Generated names use an index of the graph
/// that is incremented in the order inputs, outputs, node; names of existing values are skipped. If nodes of
/// the graph already have such names, the index starts after theirs.
std::vector<Value*> layer(Graph& graph, std::string op_type, const LayerArguments& inputs,
                          const LayerArguments& outputs, LayerSpec spec = {});

/// Named functions that build layers, for some opsets
/// or all: the counterpart of Graph.register().
class LayerRegistry {
 public:
  using Function = std::function<std::vector<Value*>(Graph&, const LayerArguments&)>;

  /// Without opsets: for all opsets that have no specific function under that name.
  void add(std::string name, Function function, std::vector<int64_t> opsets = {});
  /// Calls the function that is registered for the model's opset, else the one for all opsets; else adds a
  /// call of the model's local function of that name, whose outputs are named `<output>_<index>`. Throws
  /// Error (kNotFound) that names the opsets with such a function, or the nearest names.
  std::vector<Value*> call(const Model& model, Graph& graph, std::string_view name,
                           const LayerArguments& arguments) const;

 private:
  struct Entry {
    std::string name;
    std::vector<int64_t> opsets;
    Function function;
  };
  std::vector<Entry> entries_;
};

/// A call of a local function at the end of a graph. Outputs that are not given are named
/// `<output of the function>_<index>`; all that are not values get the types that the function declares.
/// Throws Error (kInvalidArgument) for more inputs or outputs than the function has, and for unknown or
/// missing attributes.
std::vector<Value*> call_function(Graph& graph, const Function& function, const LayerArguments& inputs,
                                  const LayerArguments& outputs = {}, LayerSpec spec = {});

/// Adds an empty local function to the model, and its domain to the model's imports. The reference
/// holds until the next function is added. Throws Error (kInvalidArgument) when the model has it; a function
/// renamed by assignment after the last call may go unnoticed.
Function& add_function(Model& model, std::string name, std::string domain = "onnx_graphsurgeon");

/// Imports version 1 of each domain that nodes use and the model, or the function that they are in, does not
/// import.
void import_used_domains(Model& model);

/// Turns used constants into Constant nodes at the beginning: in a file, the body of a local function has no
/// initializers.
void constants_to_nodes(Graph& graph);

/// Maps values to their counterparts in a copy.
using ValueMap = std::unordered_map<const Value*, Value*>;

/// A copy of the whole model that can be edited independently; tensor data are shared.
std::shared_ptr<Model> copy(const Model& model);
/// A copy of a graph, to be a subgraph in `parent` (null: it stands alone). Outer values that it uses are
/// replaced by `map`, else by the value of the same name that is visible in `parent`. Adds its own values to
/// the map. Throws Error (kInvalidArgument) that names a value which is not found.
std::shared_ptr<Graph> copy(const Graph& graph, Graph* parent, ValueMap& map);
/// A copy of a node, subgraphs included, at the end of a graph. Its inputs and outputs are replaced by `map`;
/// values that the map lacks are copied into the graph and added to the map.
Node* copy(const Node& node, Graph& into, ValueMap& map);
/// A copy of a value, tensor data shared. Throws Error (kInvalidModel) when the graph has that name.
Value* copy(const Value& value, Graph& into);

}  // namespace assay
