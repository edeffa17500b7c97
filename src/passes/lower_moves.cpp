// DepthToSpace, SpaceToDepth and Tile of known shapes as what they are: a Reshape that takes axes apart, a
// Transpose or Expand, and a Reshape back. Those merge with their neighbours, and no kernel needs to know
// more operators.
#include "analysis/extents.h"
#include "analysis/match.h"
#include "passes/pass_list.h"

namespace assay::pass_lower_moves {
namespace {

using Extents = std::vector<int64_t>;

Type moved_type(const Node& n, const Extents& dims) {
  return Type::tensor(dtype_of(n.input(0)), Dims(dims.begin(), dims.end()));
}

/// x taken apart into `apart`, moved by `op` with `extra` or `perm` into `moved`, and put together as the
/// output.
Patch lowered(const Node& n, const char* op, const Extents& apart, const Extents& moved,
              const Extents& perm) {
  const std::string& name = n.output(0)->name();
  Patch patch(n);
  patch.remove(n);
  const Patch::Ref parts =
      patch.add("Reshape", {n.input(0), patch.constant(name + "/apart", Tensor::vector(apart))}, {}, nullptr,
                moved_type(n, apart));
  const Patch::Ref result =
      perm.empty() ? patch.add(op, {parts, patch.constant(name + "/moved", Tensor::vector(moved))}, {},
                               nullptr, moved_type(n, moved))
                   : patch.add(op, {parts}, {{"perm", perm}}, nullptr, moved_type(n, moved));
  patch.add("Reshape",
            {result, patch.constant(name + "/shape", Tensor::vector(shape_of(n.output(0))->dims()))}, {},
            n.output(0));
  return patch;
}

std::optional<Patch> blocks(const Node& n, const Shape& in) {
  const int64_t b = int_attribute(n, "blocksize", 0);
  if (in.size() != 4 || b < 1) return std::nullopt;
  const int64_t batch = in[0], channels = in[1], height = in[2], width = in[3];
  const std::string_view mode = string_attribute(n, "mode", "DCR");
  if (mode != "DCR" && mode != "CRD") return std::nullopt;
  if (is_op(n, "SpaceToDepth")) {
    if (height % b != 0 || width % b != 0) return std::nullopt;
    const Extents apart = {batch, channels, height / b, b, width / b, b};
    if (mode == "DCR")
      return lowered(n, "Transpose", apart, {batch, b, b, channels, height / b, width / b},
                     {0, 3, 5, 1, 2, 4});
    return lowered(n, "Transpose", apart, {batch, channels, b, b, height / b, width / b}, {0, 1, 3, 5, 2, 4});
  }
  if (channels % (b * b) != 0) return std::nullopt;
  const int64_t depth = channels / (b * b);
  const Extents moved = {batch, depth, height, b, width, b};
  if (mode == "DCR")
    return lowered(n, "Transpose", {batch, b, b, depth, height, width}, moved, {0, 3, 4, 1, 5, 2});
  return lowered(n, "Transpose", {batch, depth, b, b, height, width}, moved, {0, 1, 4, 2, 5, 3});
}

/// Each repeated axis becomes a pair, of which the first is expanded.
std::optional<Patch> tile(const Node& n, const Shape& in) {
  const std::optional<Extents> repeats = integers_of(n.input(1));
  if (!repeats || repeats->size() != in.size()) return std::nullopt;
  Extents apart, moved;
  for (size_t d = 0; d < in.size(); ++d) {
    const int64_t times = (*repeats)[d];
    if (times != 1 && in[d] != 1) {
      apart.push_back(1);
      moved.push_back(times);
    }
    apart.push_back(in[d]);
    moved.push_back(in[d] == 1 ? times : in[d]);
  }
  return lowered(n, "Expand", apart, moved, {});
}

std::optional<Patch> match(const Node& n, const PassContext& context) {
  // The first opset in which Expand is there and Tile has its present form.
  if (n.output(0) == nullptr || context.model.opset() < 8) return std::nullopt;
  const bool is_tile = is_op(n, "Tile");
  if (!is_tile && !is_op(n, "DepthToSpace") && !is_op(n, "SpaceToDepth")) return std::nullopt;
  const std::optional<Shape> in = shape_of(n.input(0)), out = shape_of(n.output(0));
  // A shape with 0 would be read as "keep the extent".
  if (!in || !out || out->numel() == 0) return std::nullopt;
  return is_tile ? tile(n, *in) : blocks(n, *in);
}

}  // namespace

constinit const PassDef def = {
    .name = "lower_moves",
    .summary = "DepthToSpace, SpaceToDepth and Tile become Reshape, Transpose and Expand",
    .conditions =
        "Opset 8 or later, extents that are numbers, a result that is not empty. DepthToSpace and "
        "SpaceToDepth of rank 4 with extents that the block size divides; Tile by constants.",
    .match = match,
};

}  // namespace assay::pass_lower_moves
