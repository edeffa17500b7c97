// MaxPool: the largest element of each window, and on request its index in the whole input,
// with spatial axes in row-major (storage_order 0) or column-major order. The first of equal elements counts;
// NaN wins.
#include <cmath>
#include <limits>

#include "ops/nn/pool.h"
#include "ops/op_list.h"
#include "ops/work.h"

namespace assay::op_onnx_MaxPool {
namespace {

void infer(InferContext& c) {
  infer_pool(c);
  if (c.output_count() < 2) return;
  const Dims* in = c.input_dims(0);
  if (in == nullptr) return c.set_output(1, DType::kInt64);
  c.set_output(1, DType::kInt64, pooled_dims(c, *in));
}

/// The same position in a plane, counted with the first axis running fastest.
int64_t column_major(int64_t offset, const std::vector<int64_t>& extents) {
  int64_t out = 0, size = 1;
  for (const int64_t e : extents) size *= e;
  for (size_t d = extents.size(); d-- > 0; offset /= extents[d]) {
    size /= extents[d];
    out += offset % extents[d] * size;
  }
  return out;
}

template <typename T>
constexpr T lowest() {
  return std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                              : std::numeric_limits<T>::lowest();
}

template <typename T>
void pool(EvalContext& c, const PoolPlan& plan) {
  Tensor y = Tensor::allocate(dtype_of<T>(), plan.output);
  Tensor indices = c.output_count() > 1 ? Tensor::allocate(DType::kInt64, plan.output) : Tensor();
  const bool by_columns = c.since() >= 8 && c.attr_int("storage_order") != 0;
  const int64_t in_size = plan.window.in_size(), out_size = plan.window.out_size();
  const T* px = c.input(0).data<T>();
  T* py = y.mutable_data<T>();
  int64_t* pi = indices.defined() ? indices.mutable_data<int64_t>() : nullptr;
  for_each_window(plan, [&](int64_t plane, int64_t position, WindowTaps& taps) {
    T largest = lowest<T>();
    int64_t where = -1;
    taps.for_each([&](int64_t offset) {
      const T x = px[plane * in_size + offset];
      if (where >= 0 && !(x > largest) && x == x) return;
      largest = x;
      where = offset;
    });
    py[plane * out_size + position] = largest;
    if (pi == nullptr) return;
    const int64_t in_plane = where < 0 ? 0 : by_columns ? column_major(where, plan.window.in) : where;
    pi[plane * out_size + position] = plane * in_size + in_plane;
  });
  c.set_output(0, std::move(y));
  if (indices.defined()) c.set_output(1, std::move(indices));
}

void eval(EvalContext& c) {
  const PoolPlan plan = plan_pool(c);
  visit_dtype<float, double, int8_t, uint8_t>(c.input(0).dtype(), [&]<typename T>() { pool<T>(c, plan); });
}

constexpr OpVersion kVersions[] = {
    {1, "same as AveragePool-1", infer, eval},
    {8, R"(
in  X: T
out Y: T
out Indices: I ?
attr storage_order: int = 0
attr pads: ints
attr auto_pad: string = "NOTSET"
attr strides: ints
attr kernel_shape: ints required
type T: @float
type I: int64)",
     infer, eval},
    {10, R"(
in  X: T
out Y: T
out Indices: I ?
attr storage_order: int = 0
attr dilations: ints
attr ceil_mode: int = 0
attr pads: ints
attr auto_pad: string = "NOTSET"
attr strides: ints
attr kernel_shape: ints required
type T: @float
type I: int64)",
     infer, eval},
    {11, "same as MaxPool-10", infer, eval},
    {12, R"(
in  X: T
out Y: T
out Indices: I ?
attr storage_order: int = 0
attr dilations: ints
attr ceil_mode: int = 0
attr pads: ints
attr auto_pad: string = "NOTSET"
attr strides: ints
attr kernel_shape: ints required
type T: @float int8 uint8
type I: int64)",
     infer, eval},
    {22, R"(
in  X: T
out Y: T
out Indices: I ?
attr storage_order: int = 0
attr dilations: ints
attr ceil_mode: int = 0
attr pads: ints
attr auto_pad: string = "NOTSET"
attr strides: ints
attr kernel_shape: ints required
type T: @float_ir4 int8 uint8
type I: int64)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "MaxPool",
    .versions = kVersions,
    .types = EvalTypes::kFloat32Too,
    .facts =
        {
            .moves = Moves::kSelected,
            .pool = PoolFact::kLargest,
            .compares = {{{.reach = ComparisonFact::Reach::kLargest}}},
            .extra_steps = window_steps,
        },
};

}  // namespace assay::op_onnx_MaxPool
