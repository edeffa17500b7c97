// Evaluates a suspect's node repeatedly on modified inputs.
#pragma once

#include <vector>

#include "arbiter/judgement.h"
#include "ops/eval_util.h"
#include "reference/evaluate.h"

namespace assay {

class Trial {
 public:
  /// On the runner's own inputs, floats as float64.
  explicit Trial(const SuspectNode& suspect);

  /// True when all of its inputs are known, and it has no body.
  bool usable() const { return usable_; }
  const std::vector<Tensor>& inputs() const { return inputs_; }
  const Node& node() const { return suspect_.node; }
  const OpDef& op() const { return *op_.op; }
  /// The opset version that introduced the operator's current definition.
  int since() const { return op_.version->since; }
  /// The suspected output; undefined when it cannot be evaluated on these.
  Tensor evaluate(std::vector<Tensor> inputs, void (*eval)(EvalContext&) = nullptr) const {
    return evaluate(std::move(inputs), eval, output_);
  }
  /// Another output.
  Tensor evaluate(std::vector<Tensor> inputs, void (*eval)(EvalContext&), size_t output) const;
  /// With f applied to every floating input.
  template <typename F>
  Tensor with_floats(F f, void (*eval)(EvalContext&) = nullptr) const {
    std::vector<Tensor> changed = inputs_;
    for (Tensor& t : changed)
      if (t.defined() && t.dtype() == DType::kFloat64) t = map_elements<double>(t, f);
    return evaluate(std::move(changed), eval);
  }
  /// Of its sums.
  double terms() const;
  /// The index of the suspected output.
  size_t output() const { return output_; }
  /// The node on the runner's own inputs.
  EvalContext context() const { return context(inputs_); }
  /// The node on other inputs.
  EvalContext context(std::vector<Tensor> inputs) const {
    EvalContext c(suspect_.node, *op_.op, *op_.version, std::move(inputs));
    c.ideal = true;
    return c;
  }
  /// Perturbed by Numerics::perturb with this key, in float32.
  Tensor perturbed(uint64_t key) const;

 private:
  const SuspectNode& suspect_;
  BoundOp op_;
  std::vector<Tensor> inputs_;
  size_t output_ = 0;
  bool usable_ = false;
};

}  // namespace assay
