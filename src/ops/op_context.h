// The view that an operator's functions have: the node, its attributes with schema defaults, and its inputs
// and outputs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "assay/graph.h"
#include "ops/op_def.h"
#include "ops/schema.h"
#include "ops/value_type.h"

namespace assay {

/// Attributes of a node read through its schema: a missing attribute gives the schema's default; an attribute
/// of the wrong kind throws Error (kInvalidModel).
class OpContext {
 public:
  OpContext(const Node& node, const OpDef& op, const OpVersion& version)
      : node_(node), op_(op), version_(version) {}

  const Node& node() const { return node_; }
  const OpDef& op() const { return op_; }
  const OpVersion& version() const { return version_; }
  /// The version of the operator in force (OpVersion::since), not the opset of the model.
  int since() const { return version_.since; }

  size_t input_count() const { return node_.inputs().size(); }
  size_t output_count() const { return node_.outputs().size(); }
  /// True when the optional input is given.
  bool has_input(size_t i) const { return node_.input(i) != nullptr; }
  bool wants_output(size_t i) const { return node_.output(i) != nullptr; }

  bool has_attr(std::string_view name) const { return node_.find_attribute(name) != nullptr; }
  /// These throw Error when the node has no such attribute and the schema no default.
  int64_t attr_int(std::string_view name) const;
  double attr_float(std::string_view name) const;
  const std::string& attr_string(std::string_view name) const;
  const UnalignedTensor& attr_tensor(std::string_view name) const;
  Graph& attr_graph(std::string_view name) const;
  const Type& attr_type(std::string_view name) const;
  /// Empty when the node has no such attribute and the schema no default.
  std::vector<int64_t> attr_ints(std::string_view name) const;
  std::vector<double> attr_floats(std::string_view name) const;
  std::vector<std::string> attr_strings(std::string_view name) const;
  /// The value, or `otherwise` when the node leaves it out and the schema has no default.
  int64_t attr_int(std::string_view name, int64_t otherwise) const;
  double attr_float(std::string_view name, double otherwise) const;

  /// Throws Error (kInvalidModel) that a rule of the operator is broken; the caller adds node and file.
  template <typename... Args>
  void check(bool condition, fmt::format_string<Args...> format, Args&&... args) const {
    if (!condition) [[unlikely]]
      throw_error(ErrorCode::kInvalidModel, format, fmt::make_format_args(args...));
  }

 private:
  const Attribute::Data* find_attr(std::string_view name) const;
  template <typename T>
  const T* get_attr(std::string_view name, const char* kind) const;

  const Node& node_;
  const OpDef& op_;
  const OpVersion& version_;
};

/// Type and shape inference of one node. Anything not known stays unknown; inference never fails for lack
/// of knowledge, only for a broken rule.
class InferContext : public OpContext {
 public:
  using OpContext::OpContext;
  virtual ~InferContext() = default;

  /// Unknown when the input is left out.
  virtual const Type& input_type(size_t i) const = 0;
  /// The elements of input i when they are known now (initializer, Constant, folded); null otherwise. Stored
  /// type.
  virtual const Tensor* input_value(size_t i) const = 0;
  /// The elements of a 0-D or 1-D integer input as extents, possibly symbolic (the result of Shape, say);
  /// null when nothing is known. Known input_value()s of up to 64 integers are included.
  virtual const Dims* input_extents(size_t i) const = 0;
  /// Whether a tensor of the graph has this extent. A symbolic element need not be one: a difference may be
  /// negative.
  virtual bool is_extent(const Dim& d) const = 0;
  virtual void set_output_type(size_t i, Type type) = 0;
  /// Sets the elements of an integer output of rank 0 or 1, for data propagation.
  virtual void set_output_extents(size_t i, Dims extents) = 0;
  /// Infers the types of a subgraph attribute's outputs for given types of its inputs; used by the operators
  /// of control flow. With `problem`, a broken rule inside does not throw: it is stored there, and the types
  /// are those known before.
  virtual std::vector<Type> infer_subgraph(std::string_view attribute, const std::vector<Type>& inputs,
                                           std::optional<Error>* problem = nullptr) = 0;
  /// The result of infer_subgraph(), found on a copy: the subgraph itself keeps its types. Nothing
  /// where a rule would be broken, or where this is asked within such a copy.
  virtual std::optional<std::vector<Type>> try_subgraph(std::string_view /*attribute*/,
                                                        const std::vector<Type>& /*inputs*/) {
    return std::nullopt;
  }

  DType input_dtype(size_t i) const {
    return input_type(i).is_tensor() ? input_type(i).dtype : DType::kUndefined;
  }
  /// Null when the rank is unknown.
  const Dims* input_dims(size_t i) const {
    return input_type(i).has_shape() ? &*input_type(i).dims : nullptr;
  }
  /// -1 when unknown.
  int input_rank(size_t i) const { return input_dims(i) ? static_cast<int>(input_dims(i)->size()) : -1; }

  void set_output(size_t i, DType dtype) { set_output_type(i, Type::tensor(dtype)); }
  void set_output(size_t i, DType dtype, Dims dims) {
    set_output_type(i, Type::tensor(dtype, std::move(dims)));
  }
};

struct Iterations;

/// Evaluates one subgraph; the interpreter implements it for control-flow operators.
class SubgraphRunner {
 public:
  virtual ~SubgraphRunner() = default;
  /// Inputs in the order of graph.inputs; outer values are captured. Floats as the interpreter keeps them.
  virtual std::vector<Tensor> run(const Graph& graph, std::vector<Tensor> inputs) = 0;
  /// Runs all iterations of a loop, with the results of run() for each. False when it cannot, in which case
  /// nothing has changed: the caller runs them one by one.
  virtual bool iterate(const Graph& /*graph*/, Iterations& /*iterations*/) { return false; }
};

/// Evaluation of one node.
class EvalContext : public OpContext {
 public:
  /// `inputs[i]` is undefined where the node leaves an input out.
  EvalContext(const Node& node, const OpDef& op, const OpVersion& version, std::vector<Tensor> inputs,
              SubgraphRunner* subgraphs = nullptr)
      : OpContext(node, op, version),
        inputs_(std::move(inputs)),
        outputs_(node.outputs().size()),
        subgraphs_(subgraphs) {}

  /// Undefined where the node leaves an input out. Throws Error (kInvalidModel) past the last.
  const Tensor& input(size_t i) const {
    if (i >= inputs_.size()) [[unlikely]]
      fail_missing_input(i);
    return inputs_[i];
  }
  const std::vector<Tensor>& inputs() const { return inputs_; }
  const Shape& shape(size_t i) const { return input(i).shape(); }
  void set_output(size_t i, Tensor t) {
    if (i < outputs_.size()) outputs_[i] = std::move(t);
  }
  std::vector<Tensor>& outputs() { return outputs_; }
  /// The element type that inference gave output i, or the tensors in it; kUndefined when it gave none.
  DType declared_dtype(size_t i) const {
    return node().output(i) != nullptr ? leaf_dtype(node().output(i)->type) : DType::kUndefined;
  }
  SubgraphRunner& subgraphs() const;
  /// The float64 reference is running: every float is a float64 that stands for the ideal value, whatever
  /// type the model declares, so rounding to a narrower float type (Cast) is left out.
  bool ideal = false;

 private:
  [[noreturn]] void fail_missing_input(size_t i) const;

  std::vector<Tensor> inputs_;
  std::vector<Tensor> outputs_;
  SubgraphRunner* subgraphs_;
};

}  // namespace assay
