#include "passes/shape_folder.h"

#include <algorithm>
#include <numeric>

#include "analysis/match.h"
#include "ops/node_facts.h"
#include "reference/evaluate.h"

namespace assay {
namespace {

/// The extents that Shape gives, its `start` and `end` taken into account.
std::vector<Dim> shape_result(const Node& n, const Dims& dims) {
  const auto rank = static_cast<int64_t>(dims.size());
  const auto bound = [&](std::string_view name, int64_t fallback) {
    const int64_t i = int_attribute(n, name, fallback);
    return std::clamp<int64_t>(i < 0 ? i + rank : i, 0, rank);
  };
  const int64_t start = bound("start", 0), end = std::max(start, bound("end", rank));
  return {dims.begin() + start, dims.begin() + end};
}

}  // namespace

std::optional<Tensor> ShapeFolder::fold(const Node& n) {
  // A node that breaks its schema may have more.
  if (n.outputs().size() != 1 || n.output(0) == nullptr) return std::nullopt;
  std::optional<Extents> x = extents_of(n);
  if (!x) return std::nullopt;
  if (!std::all_of(x->dims.begin(), x->dims.end(), [](const Dim& d) { return d.is_known(); })) {
    partly_known_[n.output(0)] = std::move(*x);
    return std::nullopt;
  }
  std::vector<int64_t> values;
  for (const Dim& d : x->dims) values.push_back(d.value());
  return Tensor::vector(values).reshaped(x->shape);
}

std::optional<ShapeFolder::Extents> ShapeFolder::extents_of(const Node& n) const {
  const Value* x = n.input(0);
  if (x == nullptr) return std::nullopt;
  const bool is_size = is_op(n, "Size");
  if (is_size || is_op(n, "Shape")) {
    if (!x->type.has_shape()) return std::nullopt;
    if (!is_size) {
      std::vector<Dim> dims = shape_result(n, *x->type.dims);
      const Shape shape{static_cast<int64_t>(dims.size())};
      return Extents{shape, std::move(dims)};
    }
    const std::optional<Shape> shape = known_shape(*x->type.dims);
    return shape ? std::optional(Extents{Shape{}, {Dim(shape->numel())}}) : std::nullopt;
  }
  const auto it = partly_known_.find(x);
  return it != partly_known_.end() && facts_of(n, model_).gives_first() ? picked(n, it->second)
                                                                        : std::nullopt;
}

/// The operator picks from the positions as it would from the extents, by its own rules.
std::optional<ShapeFolder::Extents> ShapeFolder::picked(const Node& n, const Extents& x) const {
  const BoundOp op = bind_op(n, model_);
  if (!op) return std::nullopt;
  std::vector<int64_t> positions(x.dims.size());
  std::iota(positions.begin(), positions.end(), 0);
  std::vector<Tensor> inputs = {Tensor::vector(positions).reshaped(x.shape)};
  for (size_t i = 1; i < n.inputs().size(); ++i) {
    const UnalignedTensor* t = n.input(i) != nullptr ? known_(n.input(i)) : nullptr;
    if (n.input(i) != nullptr && t == nullptr) return std::nullopt;
    inputs.push_back(t != nullptr ? t->aligned() : Tensor());
  }
  const Tensor y = evaluate_node(n, op, std::move(inputs))[0];
  Extents out{y.shape(), {}};
  for (const int64_t i : y.to_int64()) out.dims.push_back(x.dims[static_cast<size_t>(i)]);
  return out;
}

}  // namespace assay
