// A batch normalisation that no convolution took in becomes one multiplication and one addition per element.
#include <cmath>

#include "passes/channel_constants.h"
#include "passes/match.h"
#include "passes/pass_list.h"

namespace assay::pass_lower_batch_norm {
namespace {

std::optional<Patch> match(const Node& n, const PassContext& context) {
  if (!is_op(n, "BatchNormalization") || int_attribute(n, "training_mode", 0) != 0 ||
      context.model.opset() < 7)
    return std::nullopt;
  for (size_t i = 1; i < n.outputs().size(); ++i)
    if (n.output(i) != nullptr && !n.output(i)->consumers().empty()) return std::nullopt;
  const int rank = rank_of(n.input(0));
  const DType dtype = dtype_of(n.input(0));
  const UnalignedTensor *scale = constant_of(n.input(1)), *shift = constant_of(n.input(2)),
                        *mean = constant_of(n.input(3)), *variance = constant_of(n.input(4));
  if (rank < 2 || !is_float(dtype) || scale == nullptr || shift == nullptr || mean == nullptr ||
      variance == nullptr)
    return std::nullopt;
  const std::vector<double> s = to_doubles(*scale), b = to_doubles(*shift), m = to_doubles(*mean),
                            v = to_doubles(*variance);
  const size_t channels = s.size();
  if (b.size() != channels || m.size() != channels || v.size() != channels) return std::nullopt;
  const double epsilon = float_attribute(n, "epsilon", 1e-5F);
  std::vector<double> factors(channels), shifts(channels);
  for (size_t c = 0; c < channels; ++c) {
    factors[c] = s[c] / std::sqrt(v[c] + epsilon);
    shifts[c] = b[c] - m[c] * factors[c];
  }
  Shape shape{static_cast<int64_t>(channels)};
  for (int d = 2; d < rank; ++d) shape.push_back(1);
  const std::string& name = n.output(0)->name();
  Patch patch(n);
  patch.remove(n);
  const Patch::Ref product = patch.add(
      "Mul", {n.input(0), patch.constant(name + "/factor", float_vector(factors, dtype).reshaped(shape))}, {},
      nullptr, n.output(0)->type);
  patch.add("Add", {product, patch.constant(name + "/shift", float_vector(shifts, dtype).reshaped(shape))},
            {}, n.output(0));
  return patch;
}

}  // namespace

constinit const PassDef def = {
    .name = "lower_batch_norm",
    .summary = "batch normalisation on its own becomes a multiplication and an addition",
    .match = match,
};

}  // namespace assay::pass_lower_batch_norm
