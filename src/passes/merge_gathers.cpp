// A Gather of one index and the Unsqueeze or Squeeze of its axis become one Gather; Gathers of neighbouring
// inputs of a Concat become one; what Gather or Slice takes out of a Shape becomes the Shape's own start and
// end.
#include <algorithm>

#include "analysis/extents.h"
#include "analysis/match.h"
#include "passes/pass_list.h"

namespace assay::pass_merge_gathers {
namespace {

/// The axis of a Gather, from the front.
std::optional<int64_t> gather_axis(const Node& gather) {
  const auto axes = from_front({int_attribute(gather, "axis", 0)}, rank_of(gather.input(0)));
  return axes ? std::optional((*axes)[0]) : std::nullopt;
}

std::optional<Patch> match_view(const Node& n, const PassContext& context) {
  const bool adds = is_op(n, "Unsqueeze");
  const Node* gather = producer_of(n.input(0), "Gather");
  if (gather == nullptr || context.sole_consumer(n.input(0)) != &n) return std::nullopt;
  const UnalignedTensor* index = constant_of(gather->input(1));
  const std::optional<int64_t> axis = gather_axis(*gather);
  std::optional<std::vector<int64_t>> axes = ints_parameter(n, "axes", 1);
  const int in = rank_of(n.input(0));
  if (axes) axes = from_front(std::move(*axes), in < 0 ? in : in + (adds ? 1 : 0));
  if (index == nullptr || index->numel() != 1 || index->rank() != (adds ? 0 : 1) || !axis || !axes ||
      *axes != std::vector{*axis})
    return std::nullopt;
  Patch patch(n);
  patch.remove(*gather);
  patch.remove(n);
  const Shape shape = adds ? Shape{1} : Shape{};
  patch.add(
      "Gather",
      {gather->input(0), patch.constant(n.output(0)->name() + "/index", index->aligned().reshaped(shape))},
      {{"axis", *axis}}, n.output(0));
  return patch;
}

/// A Gather with a constant list of indices along the axis, used by `user` only.
const Node* piece(const Value* v, int64_t axis, const Node& user, const PassContext& context) {
  const Node* gather = producer_of(v, "Gather");
  if (gather == nullptr || context.sole_consumer(v) != &user || gather_axis(*gather) != axis) return nullptr;
  const UnalignedTensor* index = constant_of(gather->input(1));
  return index != nullptr && index->rank() == 1 ? gather : nullptr;
}

std::optional<Patch> match_concat(const Node& n, const PassContext& context) {
  const auto axes = from_front({int_attribute(n, "axis", 1)}, rank_of(n.output(0)));
  if (!axes) return std::nullopt;
  for (size_t i = 0; i + 1 < n.inputs().size(); ++i) {
    const Node* a = piece(n.input(i), (*axes)[0], n, context);
    const Node* b = a != nullptr ? piece(n.input(i + 1), (*axes)[0], n, context) : nullptr;
    if (b == nullptr || a->input(0) != b->input(0)) continue;
    std::vector<int64_t> indices = constant_of(a->input(1))->to_int64();
    for (const int64_t index : constant_of(b->input(1))->to_int64()) indices.push_back(index);
    Patch patch(n);
    patch.remove(*a);
    patch.remove(*b);
    const Patch::Ref both = patch.add(
        "Gather", {a->input(0), patch.constant(n.input(i)->name() + "/indices", Tensor::vector(indices))},
        {{"axis", (*axes)[0]}}, n.inputs().size() == 2 ? n.output(0) : nullptr,
        Type::tensor(dtype_of(n.input(i))));
    patch.remove(n);
    if (n.inputs().size() == 2) return patch;
    std::vector<Patch::Ref> inputs;
    for (size_t k = 0; k < n.inputs().size(); ++k)
      if (k != i + 1) inputs.emplace_back(k == i ? both : Patch::Ref(n.input(k)));
    patch.set_name(n.name);
    patch.add("Concat", std::move(inputs), {{"axis", (*axes)[0]}}, n.output(0));
    return patch;
  }
  return std::nullopt;
}

/// The extents [start, end) that a node takes out of those of its input, in their order.
std::optional<std::pair<int64_t, int64_t>> range_of(const Node& n, int rank) {
  if (is_op(n, "Gather")) {
    const UnalignedTensor* index = constant_of(n.input(1));
    if (index == nullptr || index->rank() != 1 || index->numel() == 0) return std::nullopt;
    auto indices = from_front(index->to_int64(), rank);
    if (!indices) return std::nullopt;
    for (size_t i = 1; i < indices->size(); ++i)
      if ((*indices)[i] != (*indices)[i - 1] + 1) return std::nullopt;
    return std::pair(indices->front(), indices->back() + 1);
  }
  if (!is_op(n, "Slice")) return std::nullopt;
  const auto starts = ints_parameter(n, "starts", 1), ends = ints_parameter(n, "ends", 2),
             steps = ints_parameter(n, "steps", 4);
  if (!starts || !ends || !steps || starts->size() != 1 || ends->size() != 1 ||
      (!steps->empty() && (*steps)[0] != 1))
    return std::nullopt;
  const auto absolute = [&](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + rank : i, 0, rank); };
  return std::pair(absolute((*starts)[0]), absolute((*ends)[0]));
}

std::optional<Patch> match_shape(const Node& n, const PassContext& context) {
  const Node* shape = producer_of(n.input(0), "Shape");
  if (shape == nullptr || context.model.opset() < 15 || rank_of(shape->input(0)) < 0) return std::nullopt;
  if (shape->find_attribute("start") != nullptr || shape->find_attribute("end") != nullptr)
    return std::nullopt;
  const auto range = range_of(n, rank_of(shape->input(0)));
  if (!range) return std::nullopt;
  Patch patch(n);
  patch.remove(n);
  patch.add("Shape", {shape->input(0)}, {{"start", range->first}, {"end", range->second}}, n.output(0));
  return patch;
}

std::optional<Patch> match(const Node& n, const PassContext& context) {
  if (n.output(0) == nullptr || n.input(0) == nullptr) return std::nullopt;
  if (is_op(n, "Unsqueeze") || is_op(n, "Squeeze")) return match_view(n, context);
  if (is_op(n, "Concat")) return match_concat(n, context);
  return match_shape(n, context);
}

}  // namespace

constinit const PassDef def = {
    .name = "merge_gathers",
    .summary = "Gathers of one value become one, and what they take out of a Shape its own start and end",
    .conditions =
        "Constant indices. Gather of one index and Unsqueeze or Squeeze of its axis; Gathers of lists from "
        "one value along the axis of the Concat that joins them; from opset 15 on a run of neighbouring "
        "extents out of a Shape without start and end, whose input has a known rank. Nothing else uses the "
        "inner Gather.",
    .match = match,
};

}  // namespace assay::pass_merge_gathers
