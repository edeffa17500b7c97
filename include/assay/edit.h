// Editing graphs with the operations of ONNX-GraphSurgeon.
//
// GraphSurgeon's Graph, Node, Variable and Constant are Graph, Node and Value of graph.h; what it does to
// whole graphs is here. Where GraphSurgeon has a known fault the function says what is done instead.
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

/// Takes a value away from the node that computes it, whose other outputs keep their places. Nothing happens
/// to one without a producer.
void detach_from_producer(Value& value);

struct CleanupOptions {
  /// Leave out outputs that nothing uses. Trailing ones go; one before an output that is used becomes an
  /// empty slot, so that positions keep their meaning (GraphSurgeon closes the gap).
  bool remove_unused_node_outputs = false;
  bool remove_unused_graph_inputs = false;
  bool recurse_subgraphs = true;
  bool recurse_functions = true;  ///< of a model
  /// Which outputs a node may do without; by default all. Where the number of outputs means something, as a
  /// Split's does, it should say no.
  std::function<bool(const Node&, size_t)> is_optional_output;
};

/// Removes the nodes that contribute to no graph output, and constants that nothing uses. What computes a
/// graph input is cut off first. The order of nodes is kept, and the graph outputs too, those without a
/// producer included. Returns how many nodes went.
int64_t cleanup(Graph& graph, const CleanupOptions& options = {});
/// The main graph and the functions.
int64_t cleanup(Model& model, const CleanupOptions& options = {});

/// What toposort() orders.
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
/// depend on, through values that their subgraphs capture too. Inside a level nodes stand as a depth-first
/// walk over the list finishes them. Throws Error (kInvalidModel) that names the nodes or functions of a
/// cycle.
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

/// What else a layer has.
struct LayerSpec {
  AttributeList attributes;
  std::string name;  ///< empty: `onnx_graphsurgeon_node_<index>`
  std::string domain;
};

/// Appends a node made of arguments, and returns its outputs. Generated names count one index of the graph
/// up, in the order inputs, outputs, node; names of values that exist are passed over. In a graph that comes
/// with such names of nodes the index starts after theirs.
std::vector<Value*> layer(Graph& graph, std::string op_type, const LayerArguments& inputs,
                          const LayerArguments& outputs, LayerSpec spec = {});

/// Functions that build layers under names of their own, for some opsets or all: what Graph.register() is
/// for.
class LayerRegistry {
 public:
  using Function = std::function<std::vector<Value*>(Graph&, const LayerArguments&)>;

  /// Without opsets, for all that have no function of their own under that name.
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
/// `<output of the function>_<index>`; all that are not values have the types that the function says. Throws
/// Error (kInvalidArgument) for more inputs or outputs than the function has, and for attributes that it does
/// not have or needs and does not get.
std::vector<Value*> call_function(Graph& graph, const Function& function, const LayerArguments& inputs,
                                  const LayerArguments& outputs = {}, LayerSpec spec = {});

/// Adds a local function without content to the model, and its domain to the model's imports. The reference
/// holds until the next function is added. Throws Error (kInvalidArgument) when the model has it; one that
/// got its name by assignment after the last call of this may go unnoticed.
Function& add_function(Model& model, std::string name, std::string domain = "onnx_graphsurgeon");

/// Imports version 1 of each domain that nodes use and the model, or the function that they are in, does not
/// import.
void import_used_domains(Model& model);

/// Constants that something uses become Constant nodes, before all others. The body of a local function has
/// no initializers in a file.
void constants_to_nodes(Graph& graph);

/// From values to those that stand for them in a copy.
using ValueMap = std::unordered_map<const Value*, Value*>;

/// A copy of the whole model that can be edited apart; tensor data are shared.
std::shared_ptr<Model> copy(const Model& model);
/// A copy of a graph, to be a subgraph in `parent` (null: it stands alone). What it uses from outside becomes
/// what `map` has for it, else the value of that name that `parent` sees. Adds its own values to the map.
/// Throws Error (kInvalidArgument) that names a value which is not found.
std::shared_ptr<Graph> copy(const Graph& graph, Graph* parent, ValueMap& map);
/// A copy of a node, subgraphs included, at the end of a graph. Its inputs and outputs become what `map` has
/// for them; values that it does not have are copied into the graph and added to it.
Node* copy(const Node& node, Graph& into, ValueMap& map);
/// A copy of a value, tensor data shared. Throws Error (kInvalidModel) when the graph has that name.
Value* copy(const Value& value, Graph& into);

}  // namespace assay
