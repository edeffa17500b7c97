#include "transform/float16_range.h"

#include <algorithm>

#include "analysis/match.h"
#include "assay/edit.h"
#include "graph/read.h"

namespace assay {
namespace {

/// Sums and products of as many numbers as indices repeat. ONNX Runtime has no kernels of float16 for them.
bool scatters_with_reduction(const Node& node) {
  if (!node.domain.empty() || (node.op_type != "ScatterElements" && node.op_type != "ScatterND"))
    return false;
  const Attribute* reduction = node.find_attribute("reduction");
  const auto* how = reduction != nullptr ? reduction->get_if<std::string>() : nullptr;
  return how != nullptr && *how != "none";
}

/// Float16 has no variance of large sums, and few digits of those below its normal numbers; everything is
/// divided by their roots.
bool has_variance_beyond_half(const Node& node) {
  constexpr size_t kVariance = 4;
  if (!is_op(node, "BatchNormalization")) return false;
  const UnalignedTensor* data = data_of(node.input(kVariance));
  if (data == nullptr || data->dtype() != DType::kFloat32) return false;
  const Tensor values = data->aligned();
  const auto numbers = values.span<float>();
  return std::any_of(numbers.begin(), numbers.end(),
                     [](float v) { return (v > 0 && v < kSmallestNormalHalf) || v > kLargestHalf; });
}

}  // namespace

bool needs_float32(const Node& node) {
  return scatters_with_reduction(node) || has_variance_beyond_half(node);
}

void hold_statistics(Graph& g) {
  for (const auto& n : g.nodes()) {
    if (!has_variance_beyond_half(*n)) continue;
    for (size_t i = 1; i < n->inputs().size(); ++i)
      if (const Value* v = n->input(i); v != nullptr && !v->is_constant())
        if (const UnalignedTensor* data = data_of(v))
          n->set_input(i, g.add_constant(g.unique_name(v->name() + "_kept"), *data));
  }
  for (Graph* sub : subgraphs(g)) hold_statistics(*sub);
}

}  // namespace assay
