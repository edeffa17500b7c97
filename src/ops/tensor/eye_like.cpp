// EyeLike: a matrix of the input's shape with ones on its k-th diagonal and zeros elsewhere.
#include "ops/op_context.h"
#include "ops/op_list.h"
#include "ops/tensor/elements.h"
#include "tensor/convert.h"

namespace assay::op_onnx_EyeLike {
namespace {

/// The attribute dtype, else the input's type.
DType element_type(const OpContext& c, DType input) {
  if (!c.has_attr("dtype")) return input;
  const int64_t dtype = c.attr_int("dtype");
  c.check(is_known_dtype(dtype), "the attribute 'dtype' names the unknown element type {}", dtype);
  return static_cast<DType>(dtype);
}

void infer(InferContext& c) {
  const Dims* in = c.input_dims(0);
  c.check(in == nullptr || in->size() == 2, "the input must have rank 2, it has rank {}",
          in ? in->size() : 0);
  c.set_output(0, element_type(c, c.input_dtype(0)), in ? *in : Dims(2));
}

void eval(EvalContext& c) {
  const Shape& shape = c.shape(0);
  c.check(shape.size() == 2, "the input must have rank 2, it has shape {}", shape.str());
  const DType dtype = element_type(c, c.input(0).dtype());
  const Tensor one = unpacked(convert(Tensor::scalar(1.0), dtype));
  Tensor y = checked_allocation(unpacked_dtype(dtype), shape);
  fill_elements(y, unpacked(convert(Tensor::scalar(0.0), dtype)));
  const int64_t k = c.attr_int("k");
  if (k > -shape[0] && k < shape[1]) {
    visit_elements(y.dtype(), [&]<typename E>() {
      E* to = mutable_elements<E>(y);
      for (int64_t row = std::max<int64_t>(0, -k); row < shape[0] && row + k < shape[1]; ++row)
        to[row * shape[1] + row + k] = elements<E>(one)[0];
    });
  }
  c.set_output(0, repacked(std::move(y), dtype));
}

constexpr OpVersion kVersions[] = {
    {9, R"(
in  input: T1
out output: T2
attr dtype: int
attr k: int = 0
type T1: @numeric bool
type T2: @numeric bool)",
     infer, eval},
    {22, R"(
in  input: T1
out output: T2
attr dtype: int
attr k: int = 0
type T1: @numeric_ir4 bool
type T2: @numeric_ir4 bool)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "EyeLike",
    .versions = kVersions,
    .types = EvalTypes::kAsStored,
    .facts =
        {
            .moves = Moves::kFilled,
            .may_grow = true,
        },
};

}  // namespace assay::op_onnx_EyeLike
