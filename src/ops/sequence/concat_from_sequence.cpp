// ConcatFromSequence: the tensors of a sequence one after the other along an axis, or, with new_axis, stacked
// along an axis of their own.
#include "ops/control/stack.h"
#include "ops/op_list.h"
#include "ops/sequence/elements_of.h"
#include "ops/tensor/elements.h"
#include "ops/tensor/strided_copy.h"

namespace assay::op_onnx_ConcatFromSequence {
namespace {

bool makes_axis(const OpContext& c) {
  const int64_t new_axis = c.attr_int("new_axis");
  c.check(new_axis == 0 || new_axis == 1, "new_axis is {}, not 0 or 1", new_axis);
  return new_axis == 1;
}

/// The axis in the result of tensors of that rank.
size_t axis_of(const OpContext& c, int rank) {
  return static_cast<size_t>(normalize_axis(c.attr_int("axis"), makes_axis(c) ? rank + 1 : rank));
}

void infer(InferContext& c) {
  const bool stacks = makes_axis(c);
  Type type = sequence_element_type(c, 0);
  if (type.has_shape()) {
    const size_t axis = axis_of(c, static_cast<int>(type.dims->size()));
    if (stacks)
      type.dims->insert(type.dims->begin() + static_cast<std::ptrdiff_t>(axis), Dim());
    else
      (*type.dims)[axis] = Dim();
  }
  c.set_output_type(0, std::move(type));
}

Tensor joined(const EvalContext& c, std::span<const Tensor> parts, size_t axis) {
  Shape out = parts[0].shape();
  for (const Tensor& part : parts.subspan(1)) {
    Shape like = part.shape();
    if (like.size() == out.size()) like[axis] = out[axis];
    c.check(like == out, "tensors of shapes {} and {} cannot be joined along axis {}", parts[0].shape().str(),
            part.shape().str(), axis);
    c.check(!__builtin_add_overflow(out[axis], part.dim(axis), &out[axis]),
            "the extents along axis {} overflow", axis);
  }
  const DType dtype = parts[0].dtype();
  Tensor y = checked_allocation(unpacked_dtype(dtype), out);
  Region to{0, out.strides()};
  for (const Tensor& part : parts) {
    strided_copy(unpacked(part), {0, part.shape().strides()}, y, to, part.shape());
    to.offset += part.dim(axis) * to.strides[axis];
  }
  return repacked(std::move(y), dtype);
}

void eval(EvalContext& c) {
  const std::span<const Tensor> parts = sequence_elements(c, 0);
  c.check(!parts.empty(), "an empty sequence has nothing to join");
  c.check(!parts[0].is_container(), "values of type {} cannot be joined", dtype_name(parts[0].dtype()));
  const size_t axis = axis_of(c, parts[0].rank());
  if (!makes_axis(c)) return c.set_output(0, joined(c, parts, axis));
  Stack stack{Type()};
  for (const Tensor& part : parts) {
    c.check(part.shape() == parts[0].shape(), "tensors of shapes {} and {} cannot be stacked",
            parts[0].shape().str(), part.shape().str());
    stack.push(part);
  }
  c.set_output(0, stack.joined(static_cast<int64_t>(axis)));
}

constexpr OpVersion kVersions[] = {
    {11, R"(
in  input_sequence: S
out concat_result: T
attr new_axis: int = 0
attr axis: int required
type S: seq(tensor(@all))
type T: @all)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "ConcatFromSequence",
    .versions = kVersions,
    .types = EvalTypes::kAsStored,
};

}  // namespace assay::op_onnx_ConcatFromSequence
