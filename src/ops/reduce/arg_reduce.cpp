#include "ops/reduce/arg_reduce.h"

namespace assay {

void infer_arg(InferContext& c) {
  const Dims* in = c.input_dims(0);
  if (in == nullptr) return c.set_output(0, DType::kInt64);
  std::vector<bool> is_reduced(in->size());
  is_reduced[static_cast<size_t>(normalize_axis(c.attr_int("axis"), static_cast<int>(in->size())))] = true;
  c.set_output(0, DType::kInt64, reduced_dims(*in, is_reduced, c.attr_int("keepdims") != 0));
}

}  // namespace assay
