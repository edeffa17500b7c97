// Evaluation steps that many operators share.
#pragma once

#include <vector>

#include "base/parallel.h"
#include "ops/op_context.h"

namespace assay {

/// Elements that one thread should handle at least, for cheap element-wise work.
inline constexpr int64_t kElementGrain = 16384;

/// Calls f.template operator()<T>() with the C++ type of a dtype, which must be one of Ts; throws Error otherwise.
template <typename... Ts, typename F>
decltype(auto) visit_dtype(DType dtype, F&& f) {
  using Result = std::common_type_t<decltype(f.template operator()<Ts>())...>;
  if constexpr (std::is_void_v<Result>) {
    const bool found = ((dtype_of<Ts>() == dtype ? (f.template operator()<Ts>(), true) : false) || ...);
    require(found, ErrorCode::kInvalidModel, "element type {} is not supported here", dtype_name(dtype));
  } else {
    Result result{};
    const bool found = ((dtype_of<Ts>() == dtype ? (result = f.template operator()<Ts>(), true) : false) || ...);
    require(found, ErrorCode::kInvalidModel, "element type {} is not supported here", dtype_name(dtype));
    return result;
  }
}
/// The numeric types that eval sees under EvalTypes::kFloat64.
template <typename F>
decltype(auto) visit_numeric(DType dtype, F&& f) {
  return visit_dtype<double, int64_t, int32_t, int16_t, int8_t, uint64_t, uint32_t, uint16_t, uint8_t>(dtype, f);
}

/// y[i] = f(x[i]) in parallel.
template <typename In, typename Out = In, typename F>
Tensor map_elements(const Tensor& x, F f) {
  Tensor y = Tensor::allocate(dtype_of<Out>(), x.shape());
  const In* in = x.data<In>();
  Out* out = y.mutable_data<Out>();
  parallel_for(x.numel(), kElementGrain, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) out[i] = static_cast<Out>(f(in[i]));
  });
  return y;
}

/// Strides, in elements, that walk a tensor of shape `from` as if it had the broadcast shape `to`: 0 where it repeats.
std::vector<int64_t> broadcast_strides(const Shape& from, const Shape& to);

/// y = f(a, b) with NumPy broadcasting, in parallel over the output's rows.
template <typename In, typename Out = In, typename F>
Tensor map_broadcast(const Tensor& a, const Tensor& b, F f) {
  const Shape shape = broadcast(a.shape(), b.shape());
  Tensor y = Tensor::allocate(dtype_of<Out>(), shape);
  const In* pa = a.data<In>();
  const In* pb = b.data<In>();
  Out* out = y.mutable_data<Out>();
  if (y.numel() == 0) return y;
  if (a.shape() == b.shape()) {
    parallel_for(y.numel(), kElementGrain, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) out[i] = static_cast<Out>(f(pa[i], pb[i]));
    });
    return y;
  }
  if (shape.rank() == 0) {
    out[0] = static_cast<Out>(f(pa[0], pb[0]));
    return y;
  }
  const std::vector<int64_t> sa = broadcast_strides(a.shape(), shape), sb = broadcast_strides(b.shape(), shape);
  const size_t inner = shape.size() - 1;
  const int64_t row = shape[inner], rows = y.numel() / row;
  const int64_t ia = sa[inner], ib = sb[inner];
  parallel_for(rows, std::max<int64_t>(1, kElementGrain / row), [&](int64_t first, int64_t last) {
    for (int64_t r = first; r < last; ++r) {
      int64_t oa = 0, ob = 0, rest = r;
      for (size_t d = inner; d-- > 0;) {
        const int64_t at = rest % shape[d];
        rest /= shape[d];
        oa += at * sa[d];
        ob += at * sb[d];
      }
      for (int64_t i = 0; i < row; ++i) out[r * row + i] = static_cast<Out>(f(pa[oa + i * ia], pb[ob + i * ib]));
    }
  });
  return y;
}

}  // namespace assay
