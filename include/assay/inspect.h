// Descriptions of models, engines and tensors as plain data, as `assay inspect` shows them. Each description
// can be rendered as the text that the program prints.
//
//   const std::shared_ptr<Model> model = load_model("model.onnx");
//   const ModelStats stats = model_stats(*model);
//   for (const NodeDescription& n : describe(*model, {.layers = true}).graph.nodes) ...
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/api.h"
#include "assay/count.h"
#include "assay/graph.h"
#include "assay/optimization_profile.h"
#include "assay/runtime.h"
#include "assay/statistics.h"
#include "assay/tensor.h"
#include "assay/type.h"

namespace ASSAY_API assay {

// ---- models ----

/// The parts of a description in addition to names, inputs, outputs and counts.
struct DescribeOptions {
  bool layers = false;   ///< nodes and initializers
  bool attrs = false;    ///< with `layers`: attributes of nodes; doc strings of graphs
  bool weights = false;  ///< the elements of initializers, as views that read nothing
};

struct ValueDescription {
  std::string name;
  Type type;
  bool is_constant = false;
  int depth = 0;  ///< number of graphs that enclose its own
};
/// One for each value, however often it is used; null: an omitted optional operand.
using DescribedValue = std::shared_ptr<const ValueDescription>;

struct GraphDescription;

struct AttributeDescription {
  std::string name;
  std::string type;                                    ///< FLOAT, INTS, GRAPH, ...
  Attribute::Data data = {};                           ///< nothing for a graph
  std::shared_ptr<const GraphDescription> graph = {};  ///< of an attribute that is one
};

struct NodeDescription {
  std::string name, op_type, domain;
  std::vector<DescribedValue> inputs, outputs;
  std::vector<AttributeDescription> attributes = {};
};

struct InitializerDescription {
  enum class Data : uint8_t {
    kPresent,
    kStripped,  ///< by `surgeon weight-strip`
    kLeftOut,   ///< external data were not loaded
  };
  DescribedValue value;
  Data data = Data::kPresent;
  UnalignedTensor elements = {};  ///< with `weights`, where they are present
};

struct GraphDescription {
  std::string name, doc_string;
  int depth = 0;  ///< number of enclosing graphs
  std::vector<DescribedValue> inputs, outputs;
  size_t initializer_count = 0, node_count = 0;
  std::vector<InitializerDescription> initializers = {};  ///< with `layers` or `weights`
  std::vector<NodeDescription> nodes = {};                ///< with `layers`
};

struct ModelDescription {
  std::optional<int64_t> opset = {};                               ///< of ai.onnx
  std::vector<std::pair<std::string, int64_t>> other_opsets = {};  ///< by domain
  GraphDescription graph = {};
  DescribeOptions shown = {};
};

/// Bodies are described with the attributes that hold them.
ModelDescription describe(const Model& model, const DescribeOptions& options = {});
/// In Polygraphy's layout. Elements are read when they are printed. Logs a warning for each kind of attribute
/// that has no text, and an error where initializers lack their data.
std::string model_text(const ModelDescription& model);
/// The same for a model of any size: describes one node at a time.
std::string model_text(const Model& model, const DescribeOptions& options = {});

// ---- models as networks of TensorRT's layers ----

struct LayerDescription {
  std::string name;
  std::string type;  ///< TensorRT's name of it: CONVOLUTION
  std::vector<DescribedValue> inputs, outputs;
  std::vector<AttributeDescription> attributes = {};
  UnalignedTensor weights = {};  ///< of a CONSTANT
};

struct NetworkDescription {
  std::string name;
  std::vector<DescribedValue> inputs, outputs;
  size_t layer_count = 0;
  std::vector<LayerDescription> layers = {};  ///< with `layers`
  DescribeOptions shown = {};
};

/// One layer for each node, and one for each constant that is not a weight of its layer.
NetworkDescription describe_network(const Model& model, const DescribeOptions& options = {});
std::string network_text(const NetworkDescription& network);

// ---- engines ----

struct PlanValueDescription {
  std::string name;
  DType dtype = DType::kUndefined;
  std::optional<Shape> shape;  ///< nothing: known only at run time
  std::string format;          ///< memory layout
  size_t bytes = 0;            ///< in memory; 0 where the shape is known only at run time
  bool is_constant = false;    ///< a weight of the engine
};

struct PlanLayerDescription {
  std::string name, tactic;
  std::vector<PlanValueDescription> inputs, outputs;
  std::vector<std::string> origins;  ///< names of the ONNX nodes that it implements
  std::string way;                   ///< the tactic with the chosen variant
  std::vector<std::string> parameters;
  std::string computes =
      {};  ///< "float32 (held in float32)": the type, and the reason for it; see Builder::type_summary()
};

/// A product that computes in float32 because no algorithm was found for it in the narrower types that were
/// allowed.
struct NearMissDescription {
  std::string layer;   ///< as a profile names it
  std::string reason;  ///< "the right operand is not a constant matrix"
  int64_t multiply_adds = 0;
  std::optional<double> milliseconds = {};  ///< of one run, where add_layer_times() knew them
};

struct EngineDescription {
  std::string name;
  bool is_refittable = false, lacks_weights = false;
  std::vector<IoTensor> tensors = {};  ///< inputs and outputs
  size_t device_memory = 0;            ///< bytes that a context needs
  std::vector<DType> precisions = {};  ///< types that layers were allowed to compute floats in
  std::string type_summary = {};       ///< as Builder::type_summary()
  /// Of the first profile's plan: the numbers of matrices that are read from fewer bits than their elements
  /// are computed in, "210 of 4 bits", "1 of float8e4m3fn".
  std::vector<std::string> stored_weights = {};
  /// Of the first profile's plan, those with most multiply-adds first, or of most time after
  /// add_layer_times().
  std::vector<NearMissDescription> near_misses = {};
  std::vector<OptimizationProfile> profiles = {};
  size_t plan_count = 0, layer_count = 0;         ///< layers of the first profile's plan
  std::vector<PlanLayerDescription> layers = {};  ///< with `layers`: of the first profile's plan
  DescribeOptions shown = {};
};

EngineDescription describe(const Engine& engine, const DescribeOptions& options = {});
/// Milliseconds of a run by the names of layers, from a profile of the engine: ranks its near misses by them.
void add_layer_times(EngineDescription& engine, const std::map<std::string, double>& milliseconds);
/// `notes`: by tensor name, text that is appended to the description of its format.
std::string engine_text(const EngineDescription& engine,
                        const std::map<std::string, std::string>& notes = {});

// ---- cost of a model ----

/// One node, at any depth.
struct LayerStats {
  std::string name;        ///< its name, or its first output's; after `node/attribute/` in a subgraph
  std::string op_type;     ///< with its domain, as com.example::Op, unless that is ai.onnx
  std::string output;      ///< type of the first output: float32[1, 64, h, w]
  int64_t parameters = 0;  ///< elements of the weights that no earlier layer uses
  Count macs;              ///< for one run of the graph that holds the node
  Count output_bytes;      ///< the same
  Count times = 1;  ///< how often that graph runs: the product of the trip counts of the loops around it
  bool is_counted = true;  ///< false in the branch of an If that costs less than another
};

/// Totals of the layers of one operator over all their runs.
struct OperatorStats {
  std::string op_type;
  int64_t nodes = 0;  ///< including those in branches that are not counted
  int64_t parameters = 0;
  Count macs;
  Count output_bytes;
};

struct ModelStats {
  std::string name;
  int64_t nodes = 0;  ///< in subgraphs too
  /// Elements of the floating-point constants, and of the integers that are weights of quantized operators.
  int64_t parameters = 0;
  int64_t constant_bytes = 0;  ///< of every constant
  Count macs;
  Count activation_bytes;  ///< all computed values, and the inputs
  /// The largest sum of live values when nodes run in order, never in place, and a value is freed after its
  /// last use; includes inputs and outputs, excludes constants.
  Count peak_bytes;
  bool peak_is_bound = false;            ///< the peak depends on symbols: peak_bytes is a bound
  std::vector<LayerStats> layers;        ///< in the order of execution, subgraphs following their node
  std::vector<OperatorStats> operators;  ///< in the order of the first use
  std::vector<std::string> notes;  ///< assumptions of the counts: branches, trip counts, unknown operators
};

/// Counts the costs. Inline calls of local functions and infer types before; unknown types lead to unknown
/// terms. Reads only the structure, and single elements such as a trip count.
/// Throws Error when subgraphs nest deeper than kMaxGraphDepth.
ModelStats model_stats(const Model& model);

/// The totals, the notes, a table of operators and, with `layers`, one of layers. Long symbolic expressions
/// are numbered and listed below the tables.
std::string stats_text(const ModelStats& stats, bool layers);

/// The same as JSON: counts are numbers, or strings where they depend on symbols.
std::string stats_json(const ModelStats& stats);

// ---- differences between two models ----

struct ModelDifference {
  enum class Kind : uint8_t {
    kMetadata,     ///< versions, producer, names and doc strings of model and graph, metadata_props
    kOpset,        ///< an imported domain
    kInput,        ///< a graph input: its presence, name or type
    kOutput,       ///< a graph output: its presence, name, type or what computes it
    kNode,         ///< a node, or its operator
    kAttribute,    ///< an attribute of a node that both have
    kConnection,   ///< the value connected to an input of a node that both have
    kInitializer,  ///< a constant: its type, shape or elements
    kFunction,     ///< a local function
  };
  enum class Change : uint8_t { kRemoved, kAdded, kChanged };

  Kind kind;
  Change change;
  std::string what;           ///< such as `attribute 'axis' of node 'softmax' (Softmax)`
  std::string before, after;  ///< empty where not applicable
  /// Of elements that differ: the largest absolute difference; infinity when a NaN or infinity is paired with
  /// a number.
  std::optional<double> max_difference;
};

std::string_view name_of(ModelDifference::Kind kind);      ///< metadata, opset, ...
std::string_view name_of(ModelDifference::Change change);  ///< removed, added, changed

struct DiffOptions {
  /// Kinds that are not reported.
  std::vector<ModelDifference::Kind> ignore;
};

struct ModelDiff {
  std::vector<ModelDifference> differences;
  int64_t nodes_a = 0, nodes_b = 0;  ///< subgraphs included
  int64_t matched = 0;               ///< nodes that both have
  int64_t renamed_nodes = 0;         ///< of these, those with different names
  int64_t renamed_values = 0;

  bool is_same() const { return differences.empty(); }
};

/// Finds the nodes that both models have by what they compute (operators, attributes and weights up to the
/// inputs and down to the outputs), then by their neighbours and last by their names, and compares them with
/// their attributes and connections. Names of nodes and inner values, the order of nodes, declared types of
/// inner values and the number of copies of a constant make no difference. Matching reads only samples of
/// weights; each pair of constants is compared once, and its memory is released after that. Throws
/// Error when subgraphs nest deeper than kMaxGraphDepth.
ModelDiff diff_models(const Model& a, const Model& b, const DiffOptions& options = {});

/// Counts and a line per difference.
std::string diff_text(const ModelDiff& diff);
std::string diff_json(const ModelDiff& diff);

// ---- support by the engine ----

/// A node that cannot run.
struct UnsupportedNode {
  /// Calls of local functions that lead to it, outermost first: `call (Function)`.
  std::vector<std::string> stack;
  size_t index = 0;  ///< of the main graph's node that is, contains or calls it
  std::string op, name;
  std::string reason;
};

/// Every node that cannot run, in the order of the main graph: its operator, domain or version is unknown, it
/// breaks a rule of its operator, or its types do not fit. Bodies of control flow and local functions are
/// looked into. Infers the types of the model's values as far as possible.
std::vector<UnsupportedNode> find_unsupported(Model& model);

/// Neighbours in the order of the main graph: nodes [begin, end).
struct NodeRange {
  size_t begin = 0, end = 0;
  bool is_supported = true;
  std::string op = {};  ///< operator of the first
};
/// Partitions the graph into maximal ranges of supported and of unsupported nodes.
std::vector<NodeRange> partition(const Model& model, const std::vector<UnsupportedNode>& unsupported);

/// The tactics by which the engine runs nodes.
struct TacticUse {
  /// Nodes of one operator that run in the same way, ordered by first occurrence.
  struct Row {
    std::string op;
    std::vector<std::string> tactics;  ///< of the engine's steps for them; empty: folded or a view
    std::string reason;                ///< why the reference evaluator was used; empty when it was not
    std::string body;                  ///< the path of the graph that they are in; empty: the main graph
    std::vector<size_t> nodes;         ///< by number in that graph
  };
  struct Sums {
    size_t nodes = 0, evaluated = 0, without_step = 0;
  };
  std::vector<Row> rows;
  Sums main, bodies;
};

/// A range with its tactics.
struct RangeCapability {
  NodeRange nodes;
  std::optional<TacticUse> use = {};  ///< of a supported range that could be planned
  std::string open_input = {};        ///< why planning failed: an incoming tensor of unknown shape
  std::string problem = {};           ///< why planning failed: the engine's error
};

struct Capability {
  std::vector<UnsupportedNode> unsupported;
  std::vector<RangeCapability> ranges;
  bool is_planned() const;  ///< true when no range has a problem
};

/// Transforms a model with inferred types into the one to plan, with known input shapes.
using ModelToPlan = std::function<std::shared_ptr<Model>(const Model&)>;

/// The supported nodes and their tactics; without `to_plan`, for the shapes that the model declares. Infers
/// the types of `model` as find_unsupported() does.
Capability capability(Model& model, const ModelToPlan& to_plan = {});

/// A table with a line for each row, and the sums below.
std::string tactics_text(const TacticUse& use);
/// Upstream's table of nodes, ended by a newline: Stack trace | Operator | Node | Reason.
std::string unsupported_nodes_text(const std::vector<UnsupportedNode>& unsupported);
/// Upstream's table of ranges, ended by a newline: Operator | Count | Reason | Nodes. The operator is that of
/// a range's first node; the reasons are those of all its nodes.
std::string unsupported_ranges_text(std::span<const NodeRange> ranges,
                                    const std::vector<UnsupportedNode>& unsupported);
std::string capability_json(const Capability& capability);

// ---- 2:4 sparsity ----

/// A constant that Conv, MatMul or Gemm use as a factor.
struct WeightSparsity {
  enum class State : uint8_t {
    kSparse,  ///< of every four neighbours along the reduction axis two are zero
    kDense,
    kSkipped,  ///< not applicable: `reason`
  };
  std::string weight;
  State state = State::kDense;
  std::optional<size_t> axis = {};  ///< the reduction axis
  std::string reason = {};
};

/// Each weight of the main graph once.
std::vector<WeightSparsity> weight_sparsity(const Model& model);
std::string sparsity_json(const std::vector<WeightSparsity>& weights);

// ---- tensors ----

struct ArrayDescription {
  std::string name;
  DType dtype = DType::kUndefined;
  Shape shape;
  std::optional<Statistics> statistics = {};  ///< nothing for strings and complex numbers
  std::optional<Histogram> histogram = {};    ///< if requested and available
  Tensor elements = {};                       ///< if requested
};

/// Optional parts of an array's description, and the layout of its text.
struct ArrayTextOptions {
  bool values = false;
  bool histogram = false;
  int64_t edge_items = 3;   ///< values shown at either end of an axis of a long array; -1: all
  int64_t line_width = 75;  ///< width of lines of values; -1: lines break only at the ends of axes
};

ArrayDescription describe(std::string name, const Tensor& tensor, const ArrayTextOptions& options = {});
/// The lines about an array, each after a line break: `NAME [dtype=.., shape=..] | Stats: ...` one level less
/// indented than the rest: histogram, values. `level` (from 1) is their indentation.
std::string array_text(const ArrayDescription& array, const ArrayTextOptions& options, int level);

}  // namespace assay
