// Softmax of float32 along one dimension.
#pragma once

#include <cstdint>

namespace assay::kernels {

/// out[o, r, i] = e^(x - m) / sum over r of e^(x - m), with x = in[o, r, i] * scale and m the largest x of
/// its group, for extents [outer, count, inner]. A group whose m is not finite gives NaN as the formula does.
/// out may be in.
void softmax(const float* in, float* out, int64_t outer, int64_t count, int64_t inner,
             float scale = 1) noexcept;

/// The logarithm of softmax(in, ..., 1).
void log_softmax(const float* in, float* out, int64_t outer, int64_t count, int64_t inner) noexcept;

/// How a mask covers the rows of [batch, heads, queries, keys]: strides in elements, 0 where it repeats.
struct SoftmaxMask {
  const float* data = nullptr;
  int64_t heads = 1, queries = 1;
  int64_t batch_stride = 0, head_stride = 0, query_stride = 0, key_stride = 0;
};

/// softmax over keys of in * scale + mask.
void masked_softmax(const float* in, float* out, int64_t rows, int64_t keys, float scale,
                    const SoftmaxMask& mask) noexcept;

}  // namespace assay::kernels
