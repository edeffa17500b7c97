// Nodes that give back what they get are removed: Identity, Dropout outside training, casts to the same type,
// reshapes, expansions, slices and resizes that change nothing, transpositions that keep the order, sums of
// one term.
#include <numeric>

#include "passes/match.h"
#include "passes/pass_list.h"

namespace assay {
namespace {

bool is_inactive_dropout(const Node& n, const PassContext& context) {
  if (!is_op(n, "Dropout")) return false;
  const Value* mask = n.output(1);
  if (mask != nullptr && (!mask->consumers().empty() || context.is_pinned(mask))) return false;
  const Model& model = context.model;
  if (model.opset() < 7) return int_attribute(n, "is_test", 0) != 0;
  if (n.input(2) == nullptr) return true;
  const UnalignedTensor* training = constant_of(n.input(2));
  return training != nullptr && training->numel() == 1 && !training->aligned().item<bool>();
}

bool keeps_order(const Node& n) {
  std::vector<int64_t> perm = ints_attribute(n, "perm");
  if (perm.empty()) return rank_of(n.input(0)) == 0 || rank_of(n.input(0)) == 1;
  std::vector<int64_t> same(perm.size());
  std::iota(same.begin(), same.end(), 0);
  return perm == same;
}

bool same_shape(const Node& n) {
  const std::optional<Shape> in = shape_of(n.input(0)), out = shape_of(n.output(0));
  return in && out && *in == *out;
}

bool walks_forward(const Node& n) {
  const std::optional<std::vector<int64_t>> steps = ints_parameter(n, "steps", 4);
  if (!steps) return false;
  for (const int64_t s : *steps)
    if (s < 0) return false;
  return true;
}

bool is_no_op(const Node& n, const PassContext& context) {
  if (is_op(n, "Identity") || is_inactive_dropout(n, context)) return true;
  if (is_op(n, "Cast") || is_op(n, "CastLike"))
    return dtype_of(n.input(0)) != DType::kUndefined && dtype_of(n.input(0)) == dtype_of(n.output(0));
  if (is_op(n, "Transpose")) return keeps_order(n);
  if (is_op(n, "Concat") || is_op(n, "Sum") || is_op(n, "Max") || is_op(n, "Min") || is_op(n, "Mean"))
    return n.inputs().size() == 1;
  for (const char* op : {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Expand", "Pad", "Tile", "Upsample"})
    if (is_op(n, op)) return same_shape(n);
  if (is_op(n, "Slice")) return same_shape(n) && walks_forward(n);
  return is_op(n, "Resize") && same_shape(n) &&
         string_attribute(n, "coordinate_transformation_mode", "half_pixel") != "tf_crop_and_resize";
}

std::optional<Patch> match(const Node& n, const PassContext& context) {
  Value *in = n.input(0), *out = n.output(0);
  if (in == nullptr || out == nullptr || !is_no_op(n, context) || !context.can_replace(out, in))
    return std::nullopt;
  Patch patch(n);
  patch.remove(n);
  patch.replace(out, in);
  return patch;
}

}  // namespace

constinit const PassDef pass_eliminate_identity = {
    .name = "eliminate_identity",
    .summary = "nodes that give back what they get are removed",
    .match = match,
};

}  // namespace assay
