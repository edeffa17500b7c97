#include "analysis/averages.h"

#include <algorithm>
#include <vector>

#include "analysis/match.h"
#include "ops/node_facts.h"

namespace assay {
namespace {

/// Whether it reduces all axes but the first two.
bool reduces_spatial_axes(const Node& n) {
  const int rank = rank_of(n.input(0));
  const std::optional<std::vector<int64_t>> axes = ints_parameter(n, "axes", 1);
  if (rank < 3 || !axes) return false;
  std::vector<bool> reduced(static_cast<size_t>(rank));
  for (const int64_t a : *axes) {
    if (a < -rank || a >= rank) return false;
    reduced[static_cast<size_t>(a < 0 ? a + rank : a)] = true;
  }
  return !reduced[0] && !reduced[1] &&
         std::all_of(reduced.begin() + 2, reduced.end(), [](bool r) { return r; });
}

}  // namespace

bool averages_pixels(const Node& n, const Model& model) {
  if (n.outputs().size() != 1 || n.output(0) == nullptr) return false;
  const OpFacts& facts = facts_of(n, model);
  if (facts.pool != PoolFact::kNone) return facts.pool == PoolFact::kMean;
  return facts.reduction.kernel == kernels::Reduction::kMean && reduces_spatial_axes(n);
}

bool interpolates_pixels(const Node& n) {
  return is_op(n, "Resize") && string_attribute(n, "mode", "nearest") == "linear" &&
         string_attribute(n, "coordinate_transformation_mode", "half_pixel") != "tf_crop_and_resize";
}

}  // namespace assay
