// A batch normalization that no convolution took in becomes one multiplication and one addition per element.
#include "analysis/channel_constants.h"
#include "analysis/match.h"
#include "passes/pass_list.h"

namespace assay::pass_lower_batch_norm {
namespace {

std::optional<Patch> match(const Node& n, const PassContext& context) {
  if (!is_op(n, "BatchNormalization") || context.model.opset() < 7) return std::nullopt;
  const int rank = rank_of(n.input(0));
  const DType dtype = dtype_of(n.input(0));
  if (rank < 2 || !is_float(dtype)) return std::nullopt;
  const std::optional<ChannelAffine> norm = normalization_of(n);
  if (!norm) return std::nullopt;
  for (const double shift : norm->shifts)
    if (!is_lost_in_largest(shift, dtype)) return std::nullopt;
  for (const double factor : norm->factors)
    if (!is_normal_in(factor, dtype)) return std::nullopt;
  Shape shape{static_cast<int64_t>(norm->factors.size())};
  for (int d = 2; d < rank; ++d) shape.push_back(1);
  const std::string& name = n.output(0)->name();
  Patch patch(n);
  patch.remove(n);
  const Patch::Ref product = patch.add(
      "Mul",
      {n.input(0), patch.constant(name + "/factor", float_vector(norm->factors, dtype).reshaped(shape))}, {},
      nullptr, n.output(0)->type);
  patch.add("Add",
            {product, patch.constant(name + "/shift", float_vector(norm->shifts, dtype).reshaped(shape))}, {},
            n.output(0));
  return patch;
}

}  // namespace

constinit const PassDef def = {
    .name = "lower_batch_norm",
    .summary = "batch normalisation on its own becomes a multiplication and an addition",
    .conditions =
        "Opset 7 or later, rank 2 or more, a floating type. As fold_batch_norm for the normalisation; "
        "factors are 0 or normal, shifts are lost in the largest number of the type (below 16 in float16): a "
        "product then leaves the range only where the result is next to its end.",
    .match = match,
};

}  // namespace assay::pass_lower_batch_norm
