// GatherBlockQuantized takes the rows of levels, scales and zero points that are asked for before it
// dequantises them, so that nothing looks at the others.
#include <numeric>

#include "analysis/match.h"
#include "passes/pass_list.h"

namespace assay::pass_gather_quantized {
namespace {

enum Input : size_t { kData, kIndices, kScales, kZeros };

/// Whether the indices are 0, 1, ... for all rows: then nothing is left to take.
bool takes_all(const Value* indices, int64_t rows) {
  const std::optional<std::vector<int64_t>> list = integers_of(indices);
  if (!list || static_cast<int64_t>(list->size()) != rows) return false;
  for (int64_t i = 0; i < rows; ++i)
    if ((*list)[static_cast<size_t>(i)] != i) return false;
  return true;
}

/// Whether scales or zero points have the axes and rows of the data.
bool has_rows_of(const Value* v, const Shape& data) {
  const std::optional<Shape> shape = shape_of(v);
  return shape && shape->size() == data.size() && (*shape)[0] == data[0];
}

bool gathers_bytes(const Node& n) {
  return n.op_type == "GatherBlockQuantized" && n.domain == "com.microsoft" && n.output(0) != nullptr &&
         dtype_of(n.input(kData)) == DType::kUInt8;
}

struct Shapes {
  Shape indices, out;
};

/// Nothing where the rows cannot be taken first, or all of them are wanted.
std::optional<Shapes> shapes_of(const Node& n) {
  const std::optional<Shape> data = shape_of(n.input(kData)), indices = shape_of(n.input(kIndices)),
                             out = shape_of(n.output(0));
  if (!data || !indices || !out || out->numel() == 0 || data->size() < 2) return std::nullopt;
  // Bytes are gathered along the first axis; an integer of bytes is what Gather's kernels move.
  const int64_t axis = int_attribute(n, "gather_axis", 0);
  if (axis != 0 && axis != -data->rank()) return std::nullopt;
  if (!has_rows_of(n.input(kScales), *data) || takes_all(n.input(kIndices), (*data)[0])) return std::nullopt;
  if (n.input(kZeros) != nullptr && !has_rows_of(n.input(kZeros), *data)) return std::nullopt;
  return Shapes{*indices, *out};
}

Type type_like(const Value* v, const Shape& shape) {
  return Type::tensor(dtype_of(v), Dims(shape.begin(), shape.end()));
}

/// The indices as a list.
Patch::Ref index_list(Patch& patch, const Node& n, const Shape& indices) {
  Value* given = n.input(kIndices);
  if (indices.size() == 1) return given;
  const int64_t count = indices.numel();
  const Patch::Ref shape =
      patch.constant(n.output(0)->name() + "/count", Tensor::vector(std::vector<int64_t>{count}));
  return patch.add("Reshape", {given, shape}, {}, nullptr, type_like(given, {count}));
}

Patch::Ref rows_of(Patch& patch, Value* v, const Patch::Ref& list, int64_t count) {
  Shape shape = *shape_of(v);
  shape[0] = count;
  return patch.add("Gather", {v, list}, {{"axis", int64_t{0}}}, nullptr, type_like(v, shape));
}

/// 0, 1, ...
Tensor numbered(int64_t count) {
  std::vector<int64_t> all(static_cast<size_t>(count));
  std::iota(all.begin(), all.end(), 0);
  return Tensor::vector(all);
}

std::optional<Patch> match(const Node& n, const PassContext& context) {
  if (!gathers_bytes(n) || context.model.opset() < 5) return std::nullopt;
  const std::optional<Shapes> shapes = shapes_of(n);
  if (!shapes) return std::nullopt;
  const auto& [indices, out] = *shapes;
  const std::string& name = n.output(0)->name();
  const int64_t count = indices.numel();
  Patch patch(n);
  patch.remove(n);
  const Patch::Ref list = index_list(patch, n, indices);
  std::vector<Patch::Ref> inputs = {rows_of(patch, n.input(kData), list, count),
                                    patch.constant(name + "/rows", numbered(count)),
                                    rows_of(patch, n.input(kScales), list, count)};
  if (n.input(kZeros) != nullptr) inputs.push_back(rows_of(patch, n.input(kZeros), list, count));
  AttributeList attributes;
  for (const Attribute& a : n.attributes) attributes.emplace_back(a.name, a.data);
  if (indices.size() == 1) {
    patch.add(n.op_type, std::move(inputs), std::move(attributes), n.output(0), {}, n.domain);
    return patch;
  }
  Shape flat = {count};
  for (size_t d = indices.size(); d < out.size(); ++d) flat.push_back(out[d]);
  const Patch::Ref numbers = patch.add(n.op_type, std::move(inputs), std::move(attributes), nullptr,
                                       type_like(n.input(kScales), flat), n.domain);
  patch.add("Reshape", {numbers, patch.constant(name + "/shape", Tensor::vector(out.dims()))}, {},
            n.output(0));
  return patch;
}

}  // namespace

constinit const PassDef def = {
    .name = "gather_quantized",
    .summary = "GatherBlockQuantized takes the rows that are wanted before it looks at them",
    .conditions =
        "Opset 5 or later, bytes of uint8 gathered along axis 0, extents that are numbers; scales and zero "
        "points have the rows of the data.",
    .match = match,
};

}  // namespace assay::pass_gather_quantized
