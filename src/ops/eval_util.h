// Evaluation steps that many operators share.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "base/parallel.h"
#include "ops/op_context.h"

namespace assay {

/// The least elements per thread, for cheap element-wise work.
inline constexpr int64_t kElementGrain = 16384;

/// Calls f.template operator()<T>() with the C++ type of a dtype, which must be one of Ts; throws Error
/// otherwise.
template <typename... Ts, typename F>
decltype(auto) visit_dtype(DType dtype, F&& f) {
  using Result = std::common_type_t<decltype(f.template operator()<Ts>())...>;
  if constexpr (std::is_void_v<Result>) {
    const bool found = ((dtype_of<Ts>() == dtype ? (f.template operator()<Ts>(), true) : false) || ...);
    require(found, ErrorCode::kInvalidModel, "element type {} is not supported here", dtype_name(dtype));
  } else {
    Result result{};
    const bool found =
        ((dtype_of<Ts>() == dtype ? (result = f.template operator()<Ts>(), true) : false) || ...);
    require(found, ErrorCode::kInvalidModel, "element type {} is not supported here", dtype_name(dtype));
    return result;
  }
}
template <typename F>
decltype(auto) visit_integer(DType dtype, F&& f) {
  return visit_dtype<int64_t, int32_t, int16_t, int8_t, uint64_t, uint32_t, uint16_t, uint8_t>(dtype, f);
}
/// The numeric types that eval sees under EvalTypes::kFloat64.
template <typename F>
decltype(auto) visit_numeric(DType dtype, F&& f) {
  return visit_dtype<double, int64_t, int32_t, int16_t, int8_t, uint64_t, uint32_t, uint16_t, uint8_t>(dtype,
                                                                                                       f);
}

/// The numeric types that eval sees under EvalTypes::kFloat32Too.
template <typename F>
decltype(auto) visit_exact(DType dtype, F&& f) {
  return visit_dtype<float, double, int64_t, int32_t, int16_t, int8_t, uint64_t, uint32_t, uint16_t, uint8_t>(
      dtype, f);
}

/// y[i] = f(x[i]) in parallel; f must not throw.
template <typename In, typename Out = In, typename F>
Tensor map_elements(const Tensor& x, F f) {
  Tensor y = Tensor::allocate(dtype_of<Out>(), x.shape());
  const In* in = x.data<In>();
  Out* out = y.mutable_data<Out>();
  parallel_for(x.numel(), kElementGrain, [&](int64_t first, int64_t last) {
#pragma omp simd
    for (int64_t i = first; i < last; ++i) out[i] = static_cast<Out>(f(in[i]));
  });
  return y;
}

/// Strides, in elements, that walk a tensor of shape `from` as if it had the broadcast shape `to`: 0 where it
/// repeats.
std::vector<int64_t> broadcast_strides(const Shape& from, const Shape& to);

/// Counts through extents in row-major order and keeps
/// the offset of the position under given strides.
class OffsetCursor {
 public:
  /// Begins at the first position. Both spans must outlive the cursor and be of one length.
  OffsetCursor(std::span<const int64_t> extents, std::span<const int64_t> strides)
      : extents_(extents), strides_(strides), at_(extents.size(), 0) {}

  int64_t offset() const { return offset_; }
  /// Moves to the n-th position.
  void seek(int64_t n);
  /// Moves to the next position; after the last one to the first.
  void next() {
    for (size_t d = extents_.size(); d-- > 0;) {
      offset_ += strides_[d];
      if (++at_[d] < extents_[d]) return;
      offset_ -= strides_[d] * extents_[d];
      at_[d] = 0;
    }
  }

 private:
  std::span<const int64_t> extents_, strides_;
  std::vector<int64_t> at_;
  int64_t offset_ = 0;
};

/// A broadcast with as few dimensions as possible: extents of the output, at least one, and for each input
/// its strides along them. Neighbours that every input walks evenly are merged, extents of 1 dropped.
struct BroadcastPlan {
  BroadcastPlan(const Shape& to, std::span<const Shape> from);

  std::vector<int64_t> extents;
  std::vector<std::vector<int64_t>> strides;
};

/// Calls f(steps, at, offsets, n) in parallel for runs that cover the broadcast shape `to`: output elements
/// [at, at + n) belong to the elements of input k that start at offsets[k] and are steps[k] (0 or 1) apart.
template <size_t N, typename F>
void for_broadcast_rows(const Shape& to, const std::array<Shape, N>& from, F f) {
  const BroadcastPlan plan(to, from);
  const size_t inner = plan.extents.size() - 1;
  const int64_t row = plan.extents[inner];
  std::array<int64_t, N> steps;
  for (size_t k = 0; k < N; ++k) steps[k] = plan.strides[k][inner];
  parallel_for(to.numel(), kElementGrain, [&](int64_t first, int64_t last) {
    const std::span<const int64_t> outer(plan.extents.data(), inner);
    std::vector<OffsetCursor> cursors;
    for (size_t k = 0; k < N; ++k) {
      cursors.emplace_back(outer, std::span(plan.strides[k].data(), inner));
      cursors[k].seek(first / row);
    }
    int64_t column = first % row;
    for (int64_t at = first; at < last; column = 0) {
      const int64_t n = std::min(row - column, last - at);
      std::array<int64_t, N> offsets;
      for (size_t k = 0; k < N; ++k) {
        offsets[k] = cursors[k].offset() + column * steps[k];
        cursors[k].next();
      }
      f(steps, at, offsets, n);
      at += n;
    }
  });
}

/// y = f(a, b) with NumPy broadcasting, in parallel; the inputs may differ in type; f must not throw.
template <typename A, typename B, typename Out, typename F>
Tensor map_broadcast_mixed(const Tensor& a, const Tensor& b, F f) {
  Tensor y = Tensor::allocate(dtype_of<Out>(), broadcast(a.shape(), b.shape()));
  const A* pa = a.data<A>();
  const B* pb = b.data<B>();
  Out* out = y.mutable_data<Out>();
  for_broadcast_rows<2>(y.shape(), {a.shape(), b.shape()},
                        [=](const auto& steps, int64_t at, const auto& offsets, int64_t n) {
                          const A* x = pa + offsets[0];
                          const B* z = pb + offsets[1];
                          Out* to = out + at;
                          if (steps[0] == 0) {
                            const A value = *x;
#pragma omp simd
                            for (int64_t i = 0; i < n; ++i) to[i] = static_cast<Out>(f(value, z[i]));
                          } else if (steps[1] == 0) {
                            const B value = *z;
#pragma omp simd
                            for (int64_t i = 0; i < n; ++i) to[i] = static_cast<Out>(f(x[i], value));
                          } else {
#pragma omp simd
                            for (int64_t i = 0; i < n; ++i) to[i] = static_cast<Out>(f(x[i], z[i]));
                          }
                        });
  return y;
}

/// The same for two inputs of one type.
template <typename In, typename Out = In, typename F>
Tensor map_broadcast(const Tensor& a, const Tensor& b, F f) {
  return map_broadcast_mixed<In, In, Out>(a, b, f);
}

}  // namespace assay
