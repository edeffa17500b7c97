// Pools over all spatial axes: shared by GlobalAveragePool, GlobalMaxPool and GlobalLpPool.
#pragma once

#include "ops/eval_util.h"
#include "ops/op_context.h"

namespace assay {

/// [N, C, spatial...] to [N, C, 1, ...].
void infer_global_pool(InferContext& c);

/// Elements of one plane of input 0.
int64_t plane_size(const EvalContext& c);

/// Output 0 has f(first element, number of elements) for every plane of input 0; planes are not empty.
template <typename F>
void reduce_planes(EvalContext& c, F f) {
  const Shape& in = c.shape(0);
  c.check(in.size() >= 2, "the input has shape {}; it needs batch and channels", in.str());
  Shape out = {in[0], in[1]};
  while (out.size() < in.size()) out.push_back(1);
  const int64_t size = plane_size(c);
  Tensor y = Tensor::allocate(DType::kFloat64, std::move(out));
  c.check(size > 0 || y.numel() == 0, "the input of shape {} has nothing to pool", in.str());
  const double* px = c.input(0).data<double>();
  double* py = y.mutable_data<double>();
  parallel_for(y.numel(), std::max<int64_t>(1, kElementGrain / std::max<int64_t>(size, 1)),
               [&](int64_t first, int64_t last) {
                 for (int64_t i = first; i < last; ++i) py[i] = f(px + i * size, size);
               });
  c.set_output(0, std::move(y));
}

}  // namespace assay
