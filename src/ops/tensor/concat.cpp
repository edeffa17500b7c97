// Concat: the inputs one after the other along an axis.
#include "ops/infer_util.h"
#include "ops/op_list.h"
#include "ops/tensor/axes.h"
#include "ops/tensor/elements.h"
#include "ops/tensor/strided_copy.h"

namespace assay::op_onnx_Concat {
namespace {

int64_t axis_of(const OpContext& c) { return c.since() < 4 ? c.attr_int("axis", 1) : c.attr_int("axis"); }

/// Vectors of extents, joined; an unknown input still has its length.
void propagate(InferContext& c) {
  Dims all;
  for (size_t i = 0; i < c.input_count(); ++i) {
    if (const Dims* extents = c.input_extents(i)) {
      all.insert(all.end(), extents->begin(), extents->end());
    } else {
      const int64_t length = known_length(c, i);
      if (length < 0 || length > static_cast<int64_t>(kLongestExtents)) return;
      all.resize(all.size() + static_cast<size_t>(length));
    }
    if (all.size() > kLongestExtents) return;
  }
  c.set_output_extents(0, std::move(all));
}

void infer(InferContext& c) {
  const DType dtype = c.input_dtype(0);
  Dims out;
  bool any = false, all = true;
  Dim total(0);
  for (size_t i = 0; i < c.input_count(); ++i) {
    const Dims* in = c.input_dims(i);
    if (in == nullptr) {
      all = false;
      continue;
    }
    const auto axis = static_cast<size_t>(normalize_axis(axis_of(c), static_cast<int>(in->size())));
    if (!any) out = *in;
    any = true;
    c.check(in->size() == out.size(), "the inputs have ranks {} and {}", out.size(), in->size());
    total = dim_add(total, (*in)[axis]);
    for (size_t d = 0; d < out.size(); ++d)
      if (d != axis) out[d] = merge_dim(out[d], (*in)[d]);
  }
  if (!any) return c.set_output(0, dtype);
  out[static_cast<size_t>(normalize_axis(axis_of(c), static_cast<int>(out.size())))] = all ? total : Dim();
  const bool vectors = out.size() == 1 && is_integer(dtype);
  c.set_output(0, dtype, std::move(out));
  if (vectors) propagate(c);
}

void eval(EvalContext& c) {
  const DType dtype = c.input(0).dtype();
  Shape out = c.shape(0);
  const auto axis = static_cast<size_t>(normalize_axis(axis_of(c), out.rank()));
  for (size_t i = 1; i < c.input_count(); ++i) {
    Shape rest = c.shape(i);
    c.check(c.input(i).dtype() == dtype, "the inputs are of types {} and {}", dtype_name(dtype),
            dtype_name(c.input(i).dtype()));
    c.check(rest.size() == out.size(), "the inputs have shapes {} and {}", c.shape(0).str(),
            c.shape(i).str());
    const int64_t extent = rest[axis];
    rest[axis] = out[axis];
    c.check(rest == out, "the inputs of shapes {} and {} differ in an axis other than {}", c.shape(0).str(),
            c.shape(i).str(), axis);
    c.check(!__builtin_add_overflow(out[axis], extent, &out[axis]), "the extents along axis {} overflow",
            axis);
  }
  if (c.input_count() == 1) return c.set_output(0, c.input(0));
  Tensor y = checked_allocation(unpacked_dtype(dtype), out);
  Region to{0, out.strides()};
  for (size_t i = 0; i < c.input_count(); ++i) {
    strided_copy(unpacked(c.input(i)), {0, c.shape(i).strides()}, y, to, c.shape(i));
    to.offset += c.shape(i)[axis] * to.strides[axis];
  }
  c.set_output(0, repacked(std::move(y), dtype));
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  inputs: T ...
out concat_result: T
attr axis: int
type T: @float)",
     infer, eval},
    {4, R"(
in  inputs: T ...
out concat_result: T
attr axis: int required
type T: @all)",
     infer, eval},
    {11, "same as Concat-4", infer, eval},
    {13, R"(
in  inputs: T ...
out concat_result: T
attr axis: int required
type T: @all_ir4)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Concat",
    .versions = kVersions,
    .types = EvalTypes::kAsStored,
    .facts =
        {
            .moves = Moves::kInputs,
            .commutes_with_cast = true,
        },
};

}  // namespace assay::op_onnx_Concat
