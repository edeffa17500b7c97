// Operators of com.microsoft that take images with the channels last, [N, spatial..., C], when the attribute
// channels_last says so: they are evaluated and inferred as those with the channels second.
#pragma once

#include "ops/op_context.h"

namespace assay {

/// [N, spatial..., C] to [N, C, spatial...]. Throws Error when there are fewer than two dimensions.
Dims channels_second(const Dims& dims);
Tensor channels_second(const Tensor& image);
/// And back.
Dims channels_last(const Dims& dims);
Tensor channels_last(const Tensor& image);

/// Runs `infer` with input 0 and output 0 transposed.
void infer_channels_last(InferContext& c, void (*infer)(InferContext&));
/// Calls f with a context in which input 0 has its channels second, and transposes output 0 back.
template <typename F>
void eval_channels_last(EvalContext& c, F f) {
  std::vector<Tensor> inputs = c.inputs();
  inputs[0] = channels_second(inputs[0]);
  EvalContext turned(c.node(), c.op(), c.version(), std::move(inputs));
  turned.ideal = c.ideal;
  f(turned);
  c.set_output(0, channels_last(turned.outputs()[0]));
}

/// True when the attribute channels_last is set.
bool has_channels_last(const OpContext& c);

}  // namespace assay
