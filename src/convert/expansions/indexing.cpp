// Operators that choose, place or repeat elements, by Gather and Tile: no arithmetic on the elements, so the
// choice is exact and other elements have no effect. Most need known shapes.
#include <algorithm>

#include "convert/expansions/parts.h"
#include "convert/steps.h"
#include "ops/eval_util.h"
#include "tensor/convert.h"

namespace assay {
namespace {

using Ints = std::vector<int64_t>;

/// Positions of the elements of `out` in a contiguous tensor of `shape` that broadcasts to it.
Tensor places(const Shape& shape, const Shape& out) {
  listable(out, "places");
  Tensor t = Tensor::allocate(DType::kInt64, out);
  const std::vector<int64_t> strides = broadcast_strides(shape, out);
  for (int64_t i = 0; i < t.numel(); ++i) {
    int64_t rest = i, at = 0;
    for (size_t d = out.size(); d-- > 0; rest /= out[d]) at += rest % out[d] * strides[d];
    t.mutable_data<int64_t>()[i] = at;
  }
  return t;
}

/// All elements in a row. There must be some.
Value* flat(Rewrite& r, Value* v) { return reshape(r, v, {-1}); }

/// A tensor without elements is a constant.
bool become_empty(Rewrite& r, const Shape& out, DType dtype) {
  if (out.numel() != 0) return false;
  r.replace({r.constant(Tensor::zeros(dtype, out), "empty")});
  return true;
}

/// Both inputs concatenated, indexed by the condition.
void expand_where(Rewrite& r) {
  const Shape condition = r.shape(0), x = r.shape(1), y = r.shape(2);
  const Shape out = broadcast(broadcast(condition, x), y);
  if (become_empty(r, out, r.dtype(1))) return;
  Value* all = r.add("Concat", {flat(r, r.input(1)), flat(r, r.input(2))}, {{"axis", int64_t{0}}});
  Tensor from_y = places(y, out), move = places(x, out);
  for (int64_t i = 0; i < out.numel(); ++i) {
    from_y.mutable_data<int64_t>()[i] += x.numel();
    move.mutable_data<int64_t>()[i] -= from_y.data<int64_t>()[i];
  }
  Value* chosen = cast(r, r.input(0), DType::kInt64);
  Value* moved = r.add("Mul", {chosen, r.constant(move, "to_x")});
  r.replace({r.add("Gather", {all, r.add("Add", {moved, r.constant(from_y, "in_y")})})});
}

/// Tile repeats extents of 1.
void expand_expand(Rewrite& r) {
  const Ints wanted = r.constant_ints(1, "shape");
  const int rank = r.rank(0), out_rank = std::max(rank, static_cast<int>(wanted.size()));
  Ints repeats(static_cast<size_t>(out_rank), 1), axes;
  const size_t missing = repeats.size() - wanted.size();
  for (size_t d = 0; d < wanted.size(); ++d) {
    const int64_t axis = static_cast<int64_t>(d + missing) - (out_rank - rank);
    if (wanted[d] == 1) continue;
    const std::optional<int64_t> own = axis < 0 ? 1 : known_extent(r.input(0), axis);
    if (!own) no_equivalent("extent {} of the input 'input' is not known", axis);
    if (*own == 1) repeats[d + missing] = wanted[d];
  }
  for (int64_t d = 0; d < out_rank - rank; ++d) axes.push_back(d);
  Value* x = r.input(0);
  if (!axes.empty()) {
    AttributeList front = {{"axes", axes}};
    x = r.add("Unsqueeze", {x}, std::move(front));
  }
  if (out_rank == 0) return r.replace({x});
  r.replace({r.add("Tile", {x, r.ints(repeats, "repeats")})});
}

void expand_constant_of_shape(Rewrite& r) {
  Tensor value = Tensor::scalar(0.0F);
  if (const Attribute* a = r.node().find_attribute("value"))
    if (const auto* t = a->get_if<UnalignedTensor>()) value = t->reshaped({}).aligned();
  r.replace({r.add("Expand", {r.constant(value, "value"), r.input(0)})});
}

/// Ones on a diagonal of a matrix whose shape is known.
void expand_eye_like(Rewrite& r) {
  const Shape shape = r.shape(0);
  if (shape.size() != 2) no_equivalent("an input of {} dimensions", shape.size());
  const auto to = static_cast<DType>(r.get_int("dtype", static_cast<int64_t>(r.dtype(0))));
  const int64_t k = std::clamp(r.get_int("k", 0), -shape[0], shape[1]);
  listable(shape, "elements");
  Tensor eye = Tensor::zeros(DType::kFloat32, shape);
  for (int64_t i = 0; i < shape[0]; ++i)
    if (i + k >= 0 && i + k < shape[1]) eye.mutable_data<float>()[i * shape[1] + i + k] = 1;
  r.replace({r.constant(convert(eye, to), "eye")});
}

/// Indices from the front. Older comparisons do not support integers; double is exact far beyond any extent.
Value* from_front(Rewrite& r, Value* indices, Value* extent) {
  Value* number = cast(r, indices, DType::kFloat64);
  Value* below = r.add("Less", {number, r.number(0, DType::kFloat64, "zero")});
  return r.add("Add", {indices, r.add("Mul", {cast(r, below, DType::kInt64), extent})});
}

/// The flat position of every element in the data.
void expand_gather_elements(Rewrite& r) {
  const Shape data = r.shape(0), out = r.shape(1);
  const auto axis = static_cast<size_t>(r.front_axis(r.get_int("axis", 0), 0));
  if (out.size() != data.size() || axis >= data.size())
    no_equivalent("indices of shape {} for axis {} of data of shape {}", out.str(), axis, data.str());
  if (become_empty(r, out, r.dtype(0))) return;
  const std::vector<int64_t> strides = data.strides();
  listable(out, "places");
  Tensor rest = Tensor::allocate(DType::kInt64, out);
  for (int64_t i = 0; i < out.numel(); ++i) {
    int64_t n = i, at = 0;
    for (size_t d = out.size(); d-- > 0; n /= out[d])
      if (d != axis) at += n % out[d] * strides[d];
    rest.mutable_data<int64_t>()[i] = at;
  }
  Value* index = from_front(r, cast(r, r.input(1), DType::kInt64), whole(r, data[axis], "extent"));
  index = r.add("Mul", {index, whole(r, strides[axis], "stride")});
  r.replace({r.add("Gather", {flat(r, r.input(0)), r.add("Add", {index, r.constant(rest, "rest")})})});
}

/// Flattens the leading axes and their indices.
void expand_gather_nd(Rewrite& r) {
  const Shape data = r.shape(0), indices = r.shape(1);
  const auto batch = static_cast<size_t>(r.get_int("batch_dims", 0));
  if (indices.empty() || batch + static_cast<size_t>(indices.back()) > data.size() || batch >= indices.size())
    no_equivalent("indices of shape {} for data of shape {}", indices.str(), data.str());
  const size_t axes = batch + static_cast<size_t>(indices.back());
  Ints extents, strides, rows = {-1};
  const int64_t inner = data.numel(axes, data.size());
  Shape out;
  for (size_t d = 0; d + 1 < indices.size(); ++d) out.push_back(indices[d]);
  const Shape lists = out;
  for (size_t d = axes; d < data.size(); ++d) {
    out.push_back(data[d]);
    rows.push_back(data[d]);
  }
  if (become_empty(r, out, r.dtype(0))) return;
  for (size_t d = batch; d < axes; ++d) {
    extents.push_back(data[d]);
    strides.push_back(data.numel(d + 1, axes));
  }
  Value* index = from_front(r, cast(r, r.input(1), DType::kInt64), r.ints(extents, "extents"));
  index = r.add("Mul", {index, r.ints(strides, "strides")});
  AttributeList last = {{"axes", Ints{static_cast<int64_t>(lists.size())}}, {"keepdims", int64_t{0}}};
  index = r.add("ReduceSum", {index}, std::move(last));
  if (batch > 0) {
    listable(lists, "places");
    Tensor first = Tensor::allocate(DType::kInt64, lists);
    const int64_t own = lists.numel(batch, lists.size()), apart = data.numel(batch, axes);
    for (int64_t i = 0; i < first.numel(); ++i) first.mutable_data<int64_t>()[i] = i / own * apart;
    index = r.add("Add", {index, r.constant(first, "batches")});
  }
  if (inner * data.numel(0, axes) == 0) no_equivalent("data of shape {}", data.str());
  r.replace({r.add("Gather", {reshape(r, r.input(0), rows), index})});
}

/// Version 11 has no batch dimensions.
void expand_batches(Rewrite& r) {
  if (r.get_int("batch_dims", 0) == 0) return;
  r.set_opset(10);
  expand_gather_nd(r);
}

/// Equal positions select the second value, all others the first.
void expand_one_hot(Rewrite& r) {
  const Ints depth = r.constant_ints(1, "depth");
  if (depth.size() != 1) no_equivalent("a depth of {} numbers", depth.size());
  int64_t axis = r.get_int("axis", -1);
  const int rank = r.rank(0);
  if (axis < 0) axis += rank + 1;
  Value* index = from_front(r, cast(r, r.input(0), DType::kInt64), whole(r, depth[0], "depth"));
  AttributeList at = {{"axes", Ints{axis}}};
  index = r.add("Unsqueeze", {index}, std::move(at));
  Tensor numbers = Tensor::allocate(DType::kInt64, {listable(depth[0], "places")});
  for (int64_t i = 0; i < depth[0]; ++i) numbers.mutable_data<int64_t>()[i] = i;
  Shape column = {depth[0]};
  for (int64_t d = axis; d < rank; ++d) column.push_back(1);
  Value* hits = r.add("Equal", {index, r.constant(numbers.reshaped(column), "places")});
  r.replace({r.add("Gather", {r.input(2), cast(r, hits, DType::kInt64)})});
}

}  // namespace

constinit const Expansion expansion_onnx_ConstantOfShape = {"", "ConstantOfShape", 8, "Expand",
                                                            expand_constant_of_shape};
constinit const Expansion expansion_onnx_Expand = {"", "Expand", 7, "Tile", expand_expand};
constinit const Expansion expansion_onnx_EyeLike = {"", "EyeLike", 8, "a constant", expand_eye_like};
constinit const Expansion expansion_onnx_GatherElements = {
    "", "GatherElements", 10, "Gather from all elements in a row", expand_gather_elements};
constinit const Expansion expansion_onnx_GatherND = {"", "GatherND", 10, "Gather from leading axes in a row",
                                                     expand_gather_nd};
constinit const Expansion expansion_onnx_OneHot = {"", "OneHot", 8, "Equal and Gather", expand_one_hot};
constinit const Expansion expansion_onnx_Where = {"", "Where", 8, "Gather from both inputs in a row",
                                                  expand_where};
constinit const Adapter adapter_gather_batches = {
    .name = "gather_batches", .summary = "leading axes may be batches", .down = expand_batches};

}  // namespace assay
