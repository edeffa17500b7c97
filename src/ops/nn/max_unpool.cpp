// MaxUnpool: puts each element of X at its index in I into an image of zeros of the size that MaxPool's input
// would have had, in the near corner of an image of output_shape if that is given.
#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/nn/window.h"
#include "ops/op_list.h"

namespace assay::op_onnx_MaxUnpool {
namespace {

/// stride * (in - 1) + kernel - pads.
Dim unpooled_extent(const WindowAttributes& w, size_t i, const Dim& in) {
  const int64_t rest = w.kernel[i] - w.strides[i] - w.begin[i] - w.end[i];
  const Dim scaled = dim_mul(Dim(w.strides[i]), in);
  return rest < 0 ? dim_sub(scaled, Dim(-rest)) : dim_add(scaled, Dim(rest));
}

Dims unpooled_dims(const OpContext& c, const Dims& in) {
  c.check(in.size() >= 3, "the input has {} dimensions; it needs batch, channels and at least one more",
          in.size());
  const WindowAttributes window = read_window(c, in.size() - 2);
  c.check(!window.kernel.empty(), "the required attribute 'kernel_shape' is missing");
  Dims out = {in[0], in[1]};
  for (size_t d = 2; d < in.size(); ++d) out.push_back(unpooled_extent(window, d - 2, in[d]));
  return out;
}

void infer(InferContext& c) {
  const Dims* in = c.input_dims(0);
  if (in == nullptr) return c.set_output(0, c.input_dtype(0));
  Dims out = unpooled_dims(c, *in);
  if (c.has_input(2)) {
    const Dims* extents = c.input_extents(2);
    c.check(extents == nullptr || extents->size() == in->size(),
            "output_shape has {} extents for {} dimensions", extents ? extents->size() : 0, in->size());
    out = extents != nullptr ? *extents : Dims(in->size());
  }
  c.set_output(0, c.input_dtype(0), std::move(out));
}

/// Copies an image into the near corner of a larger one of zeros.
template <typename T>
Tensor in_corner_of(const Tensor& t, const Shape& shape) {
  Tensor y = Tensor::zeros(dtype_of<T>(), shape);
  const std::vector<int64_t> strides = shape.strides();
  OffsetCursor cursor(t.shape().dims(), strides);
  T* py = y.mutable_data<T>();
  for (const T x : t.span<T>()) {
    py[cursor.offset()] = x;
    cursor.next();
  }
  return y;
}

template <typename T>
void unpool(EvalContext& c) {
  const std::optional<Shape> shape = known_shape(unpooled_dims(c, to_dims(c.shape(0))));
  c.check(shape.has_value(), "the pads leave nothing of the output");
  c.check(c.shape(1) == c.shape(0), "the indices have shape {}, the data {}", c.shape(1).str(),
          c.shape(0).str());
  Tensor y = Tensor::zeros(dtype_of<T>(), *shape);
  T* py = y.mutable_data<T>();
  const std::span<const T> x = c.input(0).span<T>();
  const std::span<const int64_t> indices = c.input(1).span<int64_t>();
  for (size_t i = 0; i < x.size(); ++i) {
    c.check(indices[i] >= 0 && indices[i] < y.numel(), "index {} is outside the {} elements of the output",
            indices[i], y.numel());
    py[indices[i]] = x[i];
  }
  if (c.has_input(2)) {
    const Shape wanted(c.input(2).to_int64());
    c.check(wanted.size() == shape->size(), "output_shape has {} extents for {} dimensions", wanted.size(),
            shape->size());
    for (size_t d = 0; d < wanted.size(); ++d)
      c.check(wanted[d] >= (*shape)[d], "output_shape {} is smaller than the unpooled {}", wanted.str(),
              shape->str());
    c.check(wanted[0] == (*shape)[0] && wanted[1] == (*shape)[1],
            "output_shape {} has other images or channels than the input of shape {}", wanted.str(),
            c.shape(0).str());
    y = in_corner_of<T>(y, wanted);
  }
  c.set_output(0, std::move(y));
}

void eval(EvalContext& c) {
  visit_dtype<float, double>(c.input(0).dtype(), [&]<typename T>() { unpool<T>(c); });
}

constexpr OpVersion kVersions[] = {
    {9, R"(
in  X: T1
in  I: T2
in  output_shape: T2 ?
out output: T1
attr pads: ints
attr strides: ints
attr kernel_shape: ints required
type T1: @float
type T2: int64)",
     infer, eval},
    {11, "same as MaxUnpool-9", infer, eval},
    {22, R"(
in  X: T1
in  I: T2
in  output_shape: T2 ?
out output: T1
attr pads: ints
attr strides: ints
attr kernel_shape: ints required
type T1: @float_ir4
type T2: int64)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "MaxUnpool",
    .versions = kVersions,
    .types = EvalTypes::kFloat32Too,
};

}  // namespace assay::op_onnx_MaxUnpool
