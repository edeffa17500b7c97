#include "ops/contrib/standard.h"

#include "ops/op_set.h"

namespace assay {

void infer_as(InferContext& c, const OpDef& op, int64_t opset) {
  const OpVersion& version = *version_for(op, opset);
  ForwardingContext as(c, op, version);
  version.infer(as);
}

std::vector<Tensor> evaluate_as(const EvalContext& c, const OpDef& op, int64_t opset,
                                std::vector<Tensor> inputs, size_t outputs) {
  const OpVersion& version = *version_for(op, opset);
  EvalContext as(c.node(), op, version, std::move(inputs));
  as.ideal = c.ideal;
  as.outputs().resize(outputs);
  version.eval(as);
  return std::move(as.outputs());
}

void eval_as(EvalContext& c, const OpDef& op, int64_t opset) {
  std::vector<Tensor> outputs = evaluate_as(c, op, opset, c.inputs(), c.output_count());
  for (size_t i = 0; i < outputs.size(); ++i) c.set_output(i, std::move(outputs[i]));
}

}  // namespace assay
