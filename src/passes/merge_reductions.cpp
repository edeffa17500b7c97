// A reduction of a reduction by the same operator becomes one; a view that adds or drops the reduced axes
// becomes the reduction's own choice of keeping them.
#include <algorithm>
#include <initializer_list>

#include "analysis/extents.h"
#include "analysis/match.h"
#include "ops/node_facts.h"
#include "passes/pass_list.h"
#include "passes/reductions.h"

namespace assay::pass_merge_reductions {
namespace {

/// Whether f(f(x) over some axes) over others is f(x) over all. Integers: what wraps around does so in any
/// order; means and L2 round at each step, and so does L1, which takes the magnitude of what has wrapped.
/// Floats: all groups are of one size, so means are among them; a product may leave the range on the way, and
/// so may the sum of as many numbers in the narrow range of float16.
bool composes(const Node& n, const OpFacts& facts) {
  const DType dtype = dtype_of(n.input(0));
  if (facts.moves == Moves::kSelected && facts.reduction.composes_for_floats)
    return dtype != DType::kUndefined;
  if (is_integer(dtype)) return facts.reduction.composes_for_integers;
  if (dtype != DType::kFloat32 && dtype != DType::kFloat64 && dtype != DType::kBFloat16) return false;
  return facts.reduction.composes_for_floats;
}

/// The axes of x that an axis list of the reduced value means.
std::vector<int64_t> axes_before(const AxisReduction& first, const std::vector<int64_t>& axes) {
  if (first.keeps) return axes;
  std::vector<int64_t> before;
  for (int64_t a : axes) {
    for (const int64_t gone : first.axes)
      if (gone <= a) ++a;
    before.push_back(a);
  }
  return before;
}

std::optional<Patch> merge(const Node& n, const Node& before, const AxisReduction& first,
                           const PassContext& context) {
  const std::optional<AxisReduction> second = reduction_of(n);
  if (!second || n.op_type != before.op_type || !composes(n, facts_of(n, context.model)) ||
      first.keeps != second->keeps)
    return std::nullopt;
  AxisReduction both = first;
  for (const int64_t a : axes_before(first, second->axes))
    if (std::find(both.axes.begin(), both.axes.end(), a) == both.axes.end()) both.axes.push_back(a);
  std::sort(both.axes.begin(), both.axes.end());
  Patch patch(n);
  patch.remove(before);
  patch.remove(n);
  add_reduction(patch, n, before.input(0), both, n.output(0), context.model.opset());
  return patch;
}

/// The extents of the reduced value with the reduced axes kept or dropped.
Dims reduced(const Dims& in, const AxisReduction& r) {
  Dims out;
  for (size_t i = 0; i < in.size(); ++i) {
    const bool goes = std::find(r.axes.begin(), r.axes.end(), static_cast<int64_t>(i)) != r.axes.end();
    if (!goes || r.keeps) out.push_back(goes ? Dim(1) : in[i]);
  }
  return out;
}

/// Squeeze, Unsqueeze or Reshape that does what keeping or dropping the axes would.
std::optional<Patch> keep_or_drop(const Node& n, const Node& before, AxisReduction first,
                                  const PassContext& context) {
  if (!is_op(n, "Unsqueeze") && !is_op(n, "Squeeze") && !is_op(n, "Reshape")) return std::nullopt;
  const Dims *in = dims_of(before.input(0)), *out = dims_of(n.output(0));
  if (in == nullptr || out == nullptr) return std::nullopt;
  first.keeps = !first.keeps;
  const Dims wanted = reduced(*in, first);
  if (!std::equal(wanted.begin(), wanted.end(), out->begin(), out->end(),
                  [](const Dim& a, const Dim& b) { return a.same_as(b); }))
    return std::nullopt;
  Patch patch(n);
  patch.remove(before);
  patch.remove(n);
  add_reduction(patch, before, before.input(0), first, n.output(0), context.model.opset());
  return patch;
}

std::optional<Patch> match(const Node& n, const PassContext& context) {
  const Value* x = n.input(0);
  if (n.output(0) == nullptr || x == nullptr || x->producer() == nullptr || context.sole_consumer(x) != &n)
    return std::nullopt;
  const Node& before = *x->producer();
  const std::optional<AxisReduction> first = reduction_of(before);
  if (!first || &before.graph() != &n.graph()) return std::nullopt;
  if (std::optional<Patch> patch = merge(n, before, *first, context)) return patch;
  return keep_or_drop(n, before, *first, context);
}

}  // namespace

constinit const PassDef def = {
    .name = "merge_reductions",
    .summary = "a reduction of a reduction becomes one, with Squeeze and Unsqueeze of the reduced axes in it",
    .conditions =
        "The same operator, keepdims alike, known rank and axes. ReduceMax and ReduceMin of any type; "
        "ReduceSum and ReduceProd of integers (which wrap around in any order); ReduceSum, ReduceMean, "
        "ReduceL1 and ReduceL2 of float32, float64 and bfloat16. A Squeeze, Unsqueeze or Reshape behind any "
        "reduction whose result has the extents that the other keepdims gives. Nothing else uses the inner "
        "reduction.",
    .match = match,
};

}  // namespace assay::pass_merge_reductions
