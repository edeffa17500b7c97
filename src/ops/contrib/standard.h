// Operators of com.microsoft that are one of the standard under another schema.
#pragma once

#include "ops/op_context.h"

namespace assay {

/// Forwards everything to another context; differences are overridden.
class ForwardingContext : public InferContext {
 public:
  explicit ForwardingContext(InferContext& c) : InferContext(c.node(), c.op(), c.version()), c_(c) {}
  /// As a version of another operator, whose schema gives the attributes' defaults.
  ForwardingContext(InferContext& c, const OpDef& op, const OpVersion& version)
      : InferContext(c.node(), op, version), c_(c) {}

  const Type& input_type(size_t i) const override { return c_.input_type(i); }
  const Tensor* input_value(size_t i) const override { return c_.input_value(i); }
  const Dims* input_extents(size_t i) const override { return c_.input_extents(i); }
  bool is_extent(const Dim& d) const override { return c_.is_extent(d); }
  void set_output_type(size_t i, Type type) override { c_.set_output_type(i, std::move(type)); }
  void set_output_extents(size_t i, Dims extents) override { c_.set_output_extents(i, std::move(extents)); }
  std::vector<Type> infer_subgraph(std::string_view attribute, const std::vector<Type>& inputs,
                                   std::optional<Error>* problem) override {
    return c_.infer_subgraph(attribute, inputs, problem);
  }
  std::optional<std::vector<Type>> try_subgraph(std::string_view attribute,
                                                const std::vector<Type>& inputs) override {
    return c_.try_subgraph(attribute, inputs);
  }

 private:
  InferContext& c_;
};

/// Infers like the operator in an opset.
void infer_as(InferContext& c, const OpDef& op, int64_t opset);
/// Its outputs for these inputs, in eval's types; `outputs` of them.
std::vector<Tensor> evaluate_as(const EvalContext& c, const OpDef& op, int64_t opset,
                                std::vector<Tensor> inputs, size_t outputs = 1);
/// Evaluates like the operator in an opset.
void eval_as(EvalContext& c, const OpDef& op, int64_t opset);

}  // namespace assay
