// Constant: a tensor from an attribute: whole, as numbers or strings, or sparse.
#include <string>

#include "ops/op_list.h"
#include "ops/tensor/axes.h"
#include "ops/tensor/element_index.h"
#include "ops/tensor/elements.h"

namespace assay::op_onnx_Constant {
namespace {

/// Values at indices, zero elsewhere. The indices are linear positions, or one row of coordinates for each
/// value.
Tensor dense(const OpContext& c, const Attribute::Sparse& sparse) {
  const Shape shape(sparse.dims);
  const int64_t count = shape.numel(), values = sparse.values.numel();
  Tensor out = checked_allocation(unpacked_dtype(sparse.values.dtype()), shape);
  if (sparse.values.dtype() != DType::kString) fill_elements(out, Tensor::zeros(out.dtype(), {}));
  std::vector<int64_t> positions;
  if (sparse.indices.rank() == 2) {
    c.check(sparse.indices.dim(1) == shape.rank() && sparse.indices.dim(0) == values,
            "sparse_value has {} values, shape {} and indices of shape {}", values, shape.str(),
            sparse.indices.shape().str());
    positions = tuple_positions(shape, sparse.indices, 0).positions;
  } else {
    c.check(sparse.indices.numel() == values, "sparse_value has {} values and {} indices", values,
            sparse.indices.numel());
    positions = sparse.indices.to_int64();
    for (const int64_t i : positions)
      c.check(i >= 0 && i < count, "sparse_value has index {} in a tensor of {} elements", i, count);
  }
  scatter_slices(out, positions, 1, unpacked(sparse.values), ScatterReduction::kNone);
  return repacked(std::move(out), sparse.values.dtype());
}

/// The node's value.
Tensor value_of(const OpContext& c) {
  c.check(c.node().attributes.size() == 1, "a Constant needs one attribute, this one has {}",
          c.node().attributes.size());
  const Attribute& a = c.node().attributes.front();
  if (a.name == "value") return c.attr_tensor(a.name).aligned();
  if (a.name == "value_float") return Tensor::scalar(static_cast<float>(c.attr_float(a.name)));
  if (a.name == "value_int") return Tensor::scalar(c.attr_int(a.name));
  if (a.name == "value_string") return Tensor::scalar(c.attr_string(a.name));
  if (a.name == "value_ints") return Tensor::vector(c.attr_ints(a.name));
  if (a.name == "value_strings") return Tensor::vector(c.attr_strings(a.name));
  if (a.name == "value_floats") {
    const std::vector<double> values = c.attr_floats(a.name);
    return Tensor::vector(std::vector<float>(values.begin(), values.end()));
  }
  const auto* sparse = a.get_if<Attribute::Sparse>();
  c.check(a.name == "sparse_value" && sparse != nullptr, "the attribute '{}' holds no value", a.name);
  return dense(c, *sparse);
}

/// Small vectors of integers are tracked; a negative number is not an extent.
void propagate(InferContext& c, const UnalignedTensor& value) {
  if (!is_integer(value.dtype()) || bit_width(value.dtype()) < 32 || value.rank() > 1) return;
  if (value.numel() > static_cast<int64_t>(kLongestExtents)) return;
  Dims extents;
  for (const int64_t v : value.to_int64()) extents.push_back(v >= 0 ? Dim(v) : Dim());
  c.set_output_extents(0, std::move(extents));
}

void infer(InferContext& c) {
  // A sparse value is not expanded to learn its type.
  if (c.node().attributes.size() == 1)
    if (const auto* sparse = c.node().attributes.front().get_if<Attribute::Sparse>())
      return c.set_output(0, sparse->values.dtype(), to_dims(Shape(sparse->dims)));
  const bool is_whole = c.node().attributes.size() == 1 && c.has_attr("value");
  const UnalignedTensor value = is_whole ? c.attr_tensor("value") : value_of(c);
  c.set_output(0, value.dtype(), to_dims(value.shape()));
  propagate(c, value);
}

void eval(EvalContext& c) { c.set_output(0, value_of(c)); }

constexpr OpVersion kVersions[] = {
    {1, R"(
out output: T
attr value: tensor required
type T: @float)",
     infer, eval},
    {9, R"(
out output: T
attr value: tensor required
type T: @all)",
     infer, eval},
    {11, R"(
out output: T
attr sparse_value: sparse
attr value: tensor
type T: @all)",
     infer, eval},
    {12, R"(
out output: T
attr value_strings: strings
attr value_string: string
attr value_floats: floats
attr value_float: float
attr value_ints: ints
attr value_int: int
attr sparse_value: sparse
attr value: tensor
type T: @all)",
     infer, eval},
    {13, R"(
out output: T
attr value_strings: strings
attr value_string: string
attr value_floats: floats
attr value_float: float
attr value_ints: ints
attr value_int: int
attr sparse_value: sparse
attr value: tensor
type T: @all_ir4)",
     infer, eval},
    {19, R"(
out output: T
attr value_strings: strings
attr value_string: string
attr value_floats: floats
attr value_float: float
attr value_ints: ints
attr value_int: int
attr sparse_value: sparse
attr value: tensor
type T: @all_ir9)",
     infer, eval},
    {21, R"(
out output: T
attr value_strings: strings
attr value_string: string
attr value_floats: floats
attr value_float: float
attr value_ints: ints
attr value_int: int
attr sparse_value: sparse
attr value: tensor
type T: @all_ir10)",
     infer, eval},
    {23, R"(
out output: T
attr value_strings: strings
attr value_string: string
attr value_floats: floats
attr value_float: float
attr value_ints: ints
attr value_int: int
attr sparse_value: sparse
attr value: tensor
type T: @all_ir11)",
     infer, eval},
    {24, R"(
out output: T
attr value_strings: strings
attr value_string: string
attr value_floats: floats
attr value_float: float
attr value_ints: ints
attr value_int: int
attr sparse_value: sparse
attr value: tensor
type T: @all_ir12)",
     infer, eval},
    {25, R"(
out output: T
attr value_strings: strings
attr value_string: string
attr value_floats: floats
attr value_float: float
attr value_ints: ints
attr value_int: int
attr sparse_value: sparse
attr value: tensor
type T: @all_ir13)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Constant",
    .versions = kVersions,
    .types = EvalTypes::kAsStored,
    .facts =
        {
            .moves = Moves::kFilled,
        },
};

}  // namespace assay::op_onnx_Constant
