#include "ops/nn/global_pool.h"

namespace assay {

void infer_global_pool(InferContext& c) {
  const Dims* in = c.input_dims(0);
  if (in == nullptr) return c.set_output(0, c.input_dtype(0));
  c.check(in->size() >= 2, "the input has {} dimensions; it needs batch and channels", in->size());
  Dims out(in->size(), Dim(1));
  out[0] = (*in)[0];
  out[1] = (*in)[1];
  c.set_output(0, c.input_dtype(0), std::move(out));
}

int64_t plane_size(const EvalContext& c) { return c.shape(0).numel(2, c.shape(0).size()); }

}  // namespace assay
