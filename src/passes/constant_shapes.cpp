// The computed shape of a Reshape or Expand becomes a constant where the extents say all that it has to:
// numbers, 0 (Reshape) or 1 (Expand) for what stays, -1 for what remains.
#include "analysis/extents.h"
#include "analysis/match.h"
#include "passes/pass_list.h"

namespace assay::pass_constant_shapes {
namespace {

std::optional<std::vector<int64_t>> expand_target(const Dims* in, const Dims& out) {
  if (in == nullptr) return std::nullopt;
  std::vector<int64_t> target;
  for (size_t i = 0; i < out.size(); ++i) {
    const size_t before = out.size() - in->size();
    const bool stays = i >= before && out[i].same_as((*in)[i - before]);
    if (!stays && !out[i].is_known()) return std::nullopt;
    target.push_back(stays ? 1 : out[i].value());
  }
  return target;
}

std::optional<Patch> match(const Node& n, const PassContext& context) {
  const bool reshapes = is_op(n, "Reshape") && context.model.opset() >= 5;
  if ((!reshapes && !is_op(n, "Expand")) || n.input(1) == nullptr || constant_of(n.input(1)) != nullptr)
    return std::nullopt;
  const Dims *in = dims_of(n.input(0)), *out = dims_of(n.output(0));
  if (out == nullptr) return std::nullopt;
  const auto target = reshapes ? reshape_target(in, *out) : expand_target(in, *out);
  if (!target) return std::nullopt;
  Patch patch(n);
  patch.remove(n);
  patch.add(n.op_type, {n.input(0), patch.constant(n.output(0)->name() + "/shape", Tensor::vector(*target))},
            {}, n.output(0));
  return patch;
}

}  // namespace

constinit const PassDef def = {
    .name = "constant_shapes",
    .summary = "computed shapes of Reshape and Expand become constants where the extents say what they are",
    .conditions =
        "Reshape from opset 5 on, and Expand. The rank of the result is known, and of its extents all but "
        "one are numbers or equal an extent of the input, in its place; none is 0. Open extents are at least "
        "1.",
    .match = match,
};

}  // namespace assay::pass_constant_shapes
