#include "convert/expansions/parts.h"

#include <limits>
#include <numeric>

namespace assay {

Value* whole(Rewrite& r, int64_t number, std::string_view hint) {
  return r.constant(Tensor::scalar(number), hint);
}

Value* minus_infinity(Rewrite& r, DType dtype) {
  return r.number(-std::numeric_limits<double>::infinity(), dtype, "minus_infinity");
}

double largest_number(DType dtype) {
  switch (dtype) {
    case DType::kFloat64:
      return std::numeric_limits<double>::max();
    case DType::kFloat32:
      return std::numeric_limits<float>::max();
    case DType::kFloat16:
      return 65504;
    case DType::kBFloat16:
      return 0x1.fep127;
    default:
      no_equivalent("elements of type {}", dtype_name(dtype));
  }
}

std::optional<int64_t> known_extent(const Value* v, int64_t axis) {
  if (v == nullptr || !v->type.has_shape() || axis < 0) return std::nullopt;
  const Dims& dims = *v->type.dims;
  if (axis >= static_cast<int64_t>(dims.size()) || !dims[static_cast<size_t>(axis)].is_known())
    return std::nullopt;
  return dims[static_cast<size_t>(axis)].value();
}

int64_t needed_extent(const Rewrite& r, size_t i, int64_t axis, std::string_view name) {
  const std::optional<int64_t> known = known_extent(r.input(i), axis);
  if (!known) no_equivalent("extent {} of the input '{}' is not known", axis, name);
  return *known;
}

Value* extent(Rewrite& r, Value* v, int64_t axis) {
  if (const auto known = known_extent(v, axis)) return whole(r, *known, "extent");
  return r.add("Gather", {r.add("Shape", {v}), whole(r, axis, "axis")});
}

Value* extents(Rewrite& r, Value* v, int64_t first, int64_t last) {
  std::vector<int64_t> known, axes(static_cast<size_t>(last - first));
  std::iota(axes.begin(), axes.end(), first);
  for (const int64_t a : axes)
    if (const auto e = known_extent(v, a)) known.push_back(*e);
  if (known.size() == axes.size()) return r.ints(known, "extents");
  return r.add("Gather", {r.add("Shape", {v}), r.ints(axes, "axes")});
}

Value* transpose(Rewrite& r, Value* v, std::vector<int64_t> perm) {
  return r.add("Transpose", {v}, {{"perm", std::move(perm)}});
}

Value* reshape(Rewrite& r, Value* v, const std::vector<int64_t>& shape) {
  return r.add("Reshape", {v, r.ints(shape, "shape")});
}

Value* unsqueeze(Rewrite& r, Value* v, const std::vector<int64_t>& axes) {
  return r.add("Unsqueeze", {v, r.ints(axes, "axes")});
}

Value* count_up(Rewrite& r, Value* count) {
  return r.add("Range", {whole(r, 0, "first"), count, whole(r, 1, "step")});
}

Value* slice(Rewrite& r, Value* v, int64_t axis, int64_t first, int64_t last) {
  return r.add("Slice", {v, r.ints({first}, "starts"), r.ints({last}, "ends"), r.ints({axis}, "axes")});
}

}  // namespace assay
