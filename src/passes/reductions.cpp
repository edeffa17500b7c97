#include "passes/reductions.h"

#include <algorithm>
#include <numeric>

#include "analysis/extents.h"
#include "analysis/match.h"

namespace assay {

std::optional<AxisReduction> reduction_of(const Node& n) {
  if (!n.op_type.starts_with("Reduce") || !is_op(n, n.op_type)) return std::nullopt;
  const int rank = rank_of(n.input(0));
  std::optional<std::vector<int64_t>> axes = ints_parameter(n, "axes", 1);
  if (!axes || rank < 0) return std::nullopt;
  if (axes->empty()) {
    if (int_attribute(n, "noop_with_empty_axes", 0) != 0) return std::nullopt;
    axes->resize(static_cast<size_t>(rank));
    std::iota(axes->begin(), axes->end(), 0);
  }
  axes = from_front(std::move(*axes), rank);
  if (!axes || axes->empty()) return std::nullopt;
  std::sort(axes->begin(), axes->end());
  if (std::adjacent_find(axes->begin(), axes->end()) != axes->end()) return std::nullopt;
  return AxisReduction{std::move(*axes), int_attribute(n, "keepdims", 1) != 0};
}

void add_reduction(Patch& patch, const Node& like, Value* x, const AxisReduction& reduction, Value* output,
                   int64_t opset) {
  AttributeList attributes = {{"keepdims", int64_t{reduction.keeps}}};
  std::vector<Patch::Ref> inputs = {x};
  if (opset >= (like.op_type == "ReduceSum" ? 13 : 18))
    inputs.push_back(patch.constant(output->name() + "/axes", Tensor::vector(reduction.axes)));
  else
    attributes.emplace_back("axes", reduction.axes);
  patch.add(like.op_type, std::move(inputs), std::move(attributes), output);
}

}  // namespace assay
