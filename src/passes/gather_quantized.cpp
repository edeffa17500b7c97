// GatherBlockQuantized gathers the requested rows of quantized values, scales and zero points before it
// dequantizes them, so that others are not read.
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

std::optional<Patch> match(const Node& n, const PassContext& context) {
  if (n.op_type != "GatherBlockQuantized" || n.domain != "com.microsoft" || n.output(0) == nullptr ||
      context.model.opset() < 5 || dtype_of(n.input(kData)) != DType::kUInt8)
    return std::nullopt;
  const std::optional<Shape> data = shape_of(n.input(kData)), indices = shape_of(n.input(kIndices)),
                             scales = shape_of(n.input(kScales)), out = shape_of(n.output(0));
  if (!data || !indices || !scales || !out || out->numel() == 0 || data->size() < 2) return std::nullopt;
  // Bytes are gathered along the first axis; an integer of bytes is what Gather's kernels move.
  const int64_t axis = int_attribute(n, "gather_axis", 0);
  const int64_t rows = (*data)[0], count = indices->numel();
  if ((axis != 0 && axis != -data->rank()) || scales->size() != data->size() || (*scales)[0] != rows ||
      takes_all(n.input(kIndices), rows))
    return std::nullopt;
  if (const std::optional<Shape> zeros = shape_of(n.input(kZeros));
      n.input(kZeros) != nullptr && (!zeros || zeros->size() != data->size() || (*zeros)[0] != rows))
    return std::nullopt;
  const std::string& name = n.output(0)->name();
  Patch patch(n);
  patch.remove(n);
  const auto typed = [](const Value* like, const Shape& shape) {
    return Type::tensor(dtype_of(like), Dims(shape.begin(), shape.end()));
  };
  Patch::Ref list = n.input(kIndices);
  if (indices->size() != 1)
    list = patch.add("Reshape",
                     {list, patch.constant(name + "/count", Tensor::vector(std::vector<int64_t>{count}))}, {},
                     nullptr, typed(n.input(kIndices), {count}));
  const auto taken = [&](Value* v) {
    Shape shape = *shape_of(v);
    shape[0] = count;
    return patch.add("Gather", {v, list}, {{"axis", int64_t{0}}}, nullptr, typed(v, shape));
  };
  std::vector<int64_t> all(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) all[static_cast<size_t>(i)] = i;
  std::vector<Patch::Ref> inputs = {
      taken(n.input(kData)), patch.constant(name + "/rows", Tensor::vector(all)), taken(n.input(kScales))};
  if (n.input(kZeros) != nullptr) inputs.push_back(taken(n.input(kZeros)));
  AttributeList attributes;
  for (const Attribute& a : n.attributes) attributes.emplace_back(a.name, a.data);
  if (indices->size() == 1) {
    patch.add(n.op_type, std::move(inputs), std::move(attributes), n.output(0), {}, n.domain);
    return patch;
  }
  Shape flat = {count};
  for (size_t d = indices->size(); d < out->size(); ++d) flat.push_back((*out)[d]);
  const Patch::Ref numbers = patch.add(n.op_type, std::move(inputs), std::move(attributes), nullptr,
                                       typed(n.input(kScales), flat), n.domain);
  patch.add("Reshape", {numbers, patch.constant(name + "/shape", Tensor::vector(out->dims()))}, {},
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
