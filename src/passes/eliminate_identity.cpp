// Nodes that give back what they get are removed: Identity, Dropout outside training, casts to the same type,
// reshapes, expansions, slices, paddings and resizes that change nothing, transpositions that keep the order,
// sums of one term, reductions of extents of 1, splits into one piece.
#include <algorithm>

#include "analysis/extents.h"
#include "analysis/match.h"
#include "ops/node_facts.h"
#include "passes/pass_list.h"
#include "passes/reductions.h"
#include "tensor/convert.h"

namespace assay::pass_eliminate_identity {
namespace {

bool is_inactive_dropout(const Node& n, const PassContext& context) {
  if (!is_op(n, "Dropout")) return false;
  const Value* mask = n.output(1);
  if (mask != nullptr && (!mask->consumers().empty() || context.is_pinned(mask))) return false;
  const Model& model = context.model;
  if (model.opset() < 7) return int_attribute(n, "is_test", 0) != 0;
  if (n.input(2) == nullptr) return true;
  const UnalignedTensor* training = constant_of(n.input(2));
  return training != nullptr && training->dtype() == DType::kBool && training->numel() == 1 &&
         !training->aligned().item<bool>();
}

bool keeps_order(const Node& n) {
  const std::optional<std::vector<int64_t>> perm = permutation_of(n);
  return perm && std::is_sorted(perm->begin(), perm->end());
}

bool same_shape(const Node& n) { return same_dims(n.input(0), n.output(0)); }

bool all_equal(const std::optional<std::vector<int64_t>>& list, int64_t number) {
  return list && !list->empty() &&
         std::all_of(list->begin(), list->end(), [&](int64_t i) { return i == number; });
}

/// From the start to the end in steps of one, whatever the extents are.
bool slices_everything(const Node& n) {
  const auto ends = ints_parameter(n, "ends", 2), steps = ints_parameter(n, "steps", 4);
  return all_equal(ints_parameter(n, "starts", 1), 0) && ends && !ends->empty() &&
         std::all_of(ends->begin(), ends->end(),
                     [](int64_t e) { return e >= std::numeric_limits<int32_t>::max(); }) &&
         steps && (steps->empty() || all_equal(steps, 1));
}

/// Takes the sum, mean, maximum, ... of one element each, which is that element.
bool reduces_ones(const Node& n, const OpFacts& facts) {
  if (!facts.reduction.keeps_single) return false;
  const std::optional<AxisReduction> r = reduction_of(n);
  const Dims* dims = dims_of(n.input(0));
  return r && r->keeps && dims != nullptr && std::all_of(r->axes.begin(), r->axes.end(), [&](int64_t a) {
           return (*dims)[static_cast<size_t>(a)].same_as(Dim(1));
         });
}

/// The factors of an Upsample or Resize, an attribute in old opsets.
bool scales_by_one(const Node& n) {
  const UnalignedTensor* t = constant_of(n.input(n.op_type == "Resize" && n.inputs().size() > 2 ? 2 : 1));
  if (t == nullptr || t->numel() == 0 || !is_float(t->dtype())) return false;
  const Tensor wide = to_float64(*t);
  return std::all_of(wide.span<double>().begin(), wide.span<double>().end(), [](double s) { return s == 1; });
}

/// The shape alone says it only where it decides the scales: 5 pixels by a scale of 1.1 are 5 others.
bool resizes_nothing(const Node& n) {
  const std::string_view places = string_attribute(n, "coordinate_transformation_mode", "half_pixel");
  return (n.input(3) != nullptr ? same_shape(n) : scales_by_one(n)) && places != "tf_crop_and_resize" &&
         places != "tf_half_pixel_for_nn";
}

bool walks_forward(const Node& n) {
  const std::optional<std::vector<int64_t>> steps = ints_parameter(n, "steps", 4);
  if (!steps) return false;
  for (const int64_t s : *steps)
    if (s < 0) return false;
  return true;
}

bool casts(const Node& n) { return is_op(n, "Cast") || is_op(n, "CastLike"); }

bool keeps_type(const Node& n) {
  const DType dtype = dtype_of(n.input(0));
  return dtype != DType::kUndefined && dtype == dtype_of(n.output(0));
}

/// Takes any number of inputs, and gives back a single one.
bool joins_inputs(const Node& n) {
  return is_op(n, "Concat") || is_op(n, "Sum") || is_op(n, "Max") || is_op(n, "Min") || is_op(n, "Mean");
}

/// Moves no element where the shape stays.
bool reshapes(const Node& n, const OpFacts& facts) {
  return facts.is_view() || is_op(n, "Expand") || is_op(n, "Tile");
}

bool repeats_once(const Node& n) { return n.inputs().size() == 2 && all_equal(integers_of(n.input(1)), 1); }

bool slices_nothing(const Node& n) { return (same_shape(n) && walks_forward(n)) || slices_everything(n); }

bool is_no_op(const Node& n, const PassContext& context) {
  const OpFacts& facts = facts_of(n, context.model);
  if (is_op(n, "Identity") || is_inactive_dropout(n, context)) return true;
  if (casts(n)) return keeps_type(n);
  if (is_op(n, "Transpose")) return keeps_order(n);
  if (joins_inputs(n)) return n.inputs().size() == 1;
  if (is_op(n, "Split")) return n.outputs().size() == 1 && same_shape(n);
  if (reshapes(n, facts) && same_shape(n)) return true;
  if (is_op(n, "Slice")) return slices_nothing(n);
  if (is_op(n, "Pad")) return all_equal(ints_parameter(n, "pads", 1), 0);
  if (is_op(n, "Tile")) return repeats_once(n);
  if (is_op(n, "Upsample")) return scales_by_one(n);
  if (is_op(n, "Resize")) return resizes_nothing(n);
  return reduces_ones(n, facts);
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

constinit const PassDef def = {
    .name = "eliminate_identity",
    .summary = "nodes that give back what they get are removed",
    .conditions =
        "Identity; Dropout whose mask nobody uses, outside training; Cast to the type that it gets; a "
        "Transpose in order; Concat, Sum, Max, Min and Mean of one input; Reshape, Flatten, Squeeze, "
        "Unsqueeze, Expand, Tile, Split and Slice forwards, whose result has the extents of the input; a Pad "
        "of zeros; a Tile by ones; Resize and Upsample by scales of 1, or to sizes equal to the extents, but "
        "for the modes tf_crop_and_resize and tf_half_pixel_for_nn; ReduceSum, ReduceMean, ReduceMax, "
        "ReduceMin and ReduceProd that keep axes of extent 1.",
    .match = match,
};

}  // namespace assay::pass_eliminate_identity
