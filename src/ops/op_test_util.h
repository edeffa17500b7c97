// For tests of operators: evaluates or infers one node in its own graph.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ops/op_context.h"
#include "ops/op_set.h"
#include "tensor/convert.h"

namespace assay {

/// One node with as many inputs and outputs as asked for, and the operator's version in an opset.
class OpTestNode {
 public:
  /// Throws Error when the operator is unknown or newer than the opset. `present[i]` false leaves input i
  /// out.
  OpTestNode(std::string_view op, int64_t opset, const std::vector<bool>& present, AttributeList attributes,
             size_t outputs, std::string_view domain)
      : op_(built_in_ops().find(domain, op)) {
    require(op_ != nullptr, ErrorCode::kUnsupported, "there is no operator '{}'", op);
    version_ = version_for(*op_, opset);
    require(version_ != nullptr, ErrorCode::kUnsupported, "opset {} has no operator '{}'", opset, op);
    std::vector<Value*> in, out;
    for (size_t i = 0; i < present.size(); ++i)
      in.push_back(present[i] ? graph_.add_value("in" + std::to_string(i)) : nullptr);
    for (size_t i = 0; i < outputs; ++i) out.push_back(graph_.add_value("out" + std::to_string(i)));
    node_ = graph_.add_node(std::string(op), in, out, std::move(attributes), {}, std::string(domain));
  }

  const OpDef& op() const { return *op_; }
  const OpVersion& version() const { return *version_; }
  Node& node() const { return *node_; }

 private:
  Graph graph_;
  const OpDef* op_;
  const OpVersion* version_ = nullptr;
  Node* node_ = nullptr;
};

/// The type of a value; what the elements of a sequence have in common.
inline Type type_of(const Tensor& t) {
  if (!t.is_container()) return Type::tensor(t.dtype(), t.shape());
  Type element;
  for (const Tensor& e : t.elements())
    element = element.kind == Type::Kind::kUnknown ? type_of(e) : common_type(element, type_of(e));
  return t.dtype() == DType::kSequence ? sequence_of(element) : optional_of(element);
}

/// A test's description of one input to inference: a type; a type and its elements; or elements known as
/// extents only.
struct InferInput {
  InferInput(Type t) : type(std::move(t)) {}  // NOLINT: converts on purpose
  InferInput(Tensor t) : type(type_of(t)) {   // NOLINT: converts on purpose
    if (!t.is_container()) value = t;
  }
  InferInput(Dims e, DType dtype = DType::kInt64)  // NOLINT: converts on purpose
      : type(Type::tensor(dtype, Dims{Dim(static_cast<int64_t>(e.size()))})), extents(std::move(e)) {}
  /// One extent in a tensor of rank 0, as Gather takes it from the result of Shape.
  static InferInput scalar_extent(Dim d, DType dtype = DType::kInt64) {
    InferInput in(Dims{std::move(d)}, dtype);
    in.type.dims = Dims();
    return in;
  }
  /// An optional input that is left out.
  static InferInput missing() {
    InferInput in{Type()};
    in.present = false;
    return in;
  }

  bool present = true;
  Type type;
  Tensor value;
  std::optional<Dims> extents;
};

/// Inferred types, one entry for each output.
struct InferResult {
  std::vector<Type> types;
  std::vector<std::optional<Dims>> extents;

  /// Of output 0: float32[1, 'batch'], as Type::str().
  std::string str() const { return types[0].str(); }
};

/// An InferContext over InferInputs.
class TestInferContext : public InferContext {
 public:
  TestInferContext(const OpTestNode& n, std::vector<InferInput> inputs)
      : InferContext(n.node(), n.op(), n.version()), inputs_(std::move(inputs)) {
    result.types.resize(output_count());
    result.extents.resize(output_count());
    for (InferInput& in : inputs_) derive_extents(in);
  }

  const Type& input_type(size_t i) const override { return i < inputs_.size() ? inputs_[i].type : unknown_; }
  const Tensor* input_value(size_t i) const override {
    return i < inputs_.size() && inputs_[i].value.defined() ? &inputs_[i].value : nullptr;
  }
  const Dims* input_extents(size_t i) const override {
    return i < inputs_.size() && inputs_[i].extents ? &*inputs_[i].extents : nullptr;
  }
  bool is_extent(const Dim&) const override { return false; }
  void set_output_type(size_t i, Type type) override {
    if (i < result.types.size()) result.types[i] = std::move(type);
  }
  void set_output_extents(size_t i, Dims extents) override {
    if (i < result.extents.size()) result.extents[i] = std::move(extents);
  }
  std::vector<Type> infer_subgraph(std::string_view, const std::vector<Type>&,
                                   std::optional<Error>*) override {
    fail(ErrorCode::kInternal, "this test infers one node only");
  }

  InferResult result;

 private:
  /// Small integer values are known as extents too; a negative number is not an extent.
  static void derive_extents(InferInput& in) {
    const Tensor& t = in.value;
    if (!t.defined() || !is_integer(t.dtype()) || is_packed(t.dtype()) || t.rank() > 1 || t.numel() > 64)
      return;
    Dims extents;
    for (const int64_t v : t.to_int64()) extents.push_back(v >= 0 ? Dim(v) : Dim());
    in.extents = std::move(extents);
  }

  std::vector<InferInput> inputs_;
  Type unknown_;
};

/// Infers one node. A missing input is InferInput::missing().
inline InferResult infer_op(std::string_view op, int64_t opset, std::vector<InferInput> inputs,
                            AttributeList attributes = {}, size_t outputs = 1, std::string_view domain = "") {
  std::vector<bool> present;
  for (const InferInput& in : inputs) present.push_back(in.present);
  const OpTestNode n(op, opset, present, std::move(attributes), outputs, domain);
  TestInferContext c(n, std::move(inputs));
  n.version().infer(c);
  return std::move(c.result);
}

/// The inputs as eval must get them: floats widened to float64 unless the operator takes them as stored.
inline std::vector<Tensor> widened(const OpDef& op, std::vector<Tensor> inputs) {
  if (op.types != EvalTypes::kAsStored)
    for (Tensor& t : inputs)
      if (t.defined() && is_float(t.dtype())) t = to_float64(t);
  return inputs;
}

/// Evaluates one node; an undefined tensor stands for an input that is left out. The outputs' declared types
/// are those that inference gives for the inputs as passed. Floats leave as float64 where the
/// operator computes in that.
inline std::vector<Tensor> run_op(std::string_view op, int64_t opset, std::vector<Tensor> inputs,
                                  AttributeList attributes = {}, size_t outputs = 1,
                                  std::string_view domain = "") {
  std::vector<bool> present;
  std::vector<InferInput> types;
  for (const Tensor& t : inputs) {
    present.push_back(t.defined());
    types.push_back(t.defined() ? InferInput(t) : InferInput::missing());
  }
  const OpTestNode n(op, opset, present, std::move(attributes), outputs, domain);
  TestInferContext inference(n, std::move(types));
  n.version().infer(inference);
  for (size_t i = 0; i < outputs; ++i) n.node().output(i)->type = inference.result.types[i];
  EvalContext c(n.node(), n.op(), n.version(), widened(n.op(), std::move(inputs)));
  n.version().eval(c);
  return std::move(c.outputs());
}

}  // namespace assay
