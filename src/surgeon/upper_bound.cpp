#include "surgeon/upper_bound.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "analysis/match.h"
#include "analysis/unbounded_dds.h"
#include "base/diagnostics.h"
#include "graph/distinct_names.h"
#include "graph/node_order.h"
#include "naming/selector.h"
#include "tensor/convert.h"

namespace assay {
namespace {

/// The bound as a constant of the tensor's type: a scalar, or a number for each element.
Tensor bound_tensor(const Value& v, int64_t bound) {
  const DType type = v.type.is_tensor() && v.type.dtype != DType::kUndefined ? v.type.dtype : DType::kInt64;
  const std::optional<Shape> shape = shape_of(&v);
  const int64_t count = shape && shape->rank() == 1 ? shape->numel() : -1;
  Tensor t = count < 0 ? Tensor::scalar(bound)
                       : Tensor::vector(std::vector<int64_t>(static_cast<size_t>(count), bound));
  return type == DType::kInt64 ? t : convert(t, type);
}

void bound(Value* v, int64_t limit, NodeOrder& order) {
  Graph& g = order.graph();
  Node* producer = v->producer();
  const auto slot =
      producer == nullptr
          ? 0
          : static_cast<size_t>(std::find(producer->outputs().begin(), producer->outputs().end(), v) -
                                producer->outputs().begin());
  require(producer != nullptr, ErrorCode::kInvalidArgument,
          "'{}' cannot be bounded: it is an input or a constant", v->name());
  Value* copy = g.add_value(g.unique_name(v->name() + "_copy"), v->type);
  producer->set_output(slot, copy);
  Value* most = g.add_constant(g.unique_name(v->name() + "_upper_bound"), bound_tensor(*v, limit));
  order.insert(order.next(producer), *g.add_node("Min", {copy, most}, {v}));
}

}  // namespace

UpperBounds set_upper_bounds(Model& model, const UpperBounds& bounds) {
  Graph& g = *model.graph;
  DistinctNames names(model);
  const std::vector<Value*> unbounded = unbounded_dds_tensors(g, model);
  const std::unordered_set<const Value*> known(unbounded.begin(), unbounded.end());
  std::vector<Value*> chosen;
  std::unordered_map<const Value*, int64_t> limits;
  const auto choose = [&](Value* v, int64_t limit) {
    if (limits.insert_or_assign(v, limit).second) chosen.push_back(v);
  };
  for (const auto& [name, limit] : bounds)
    if (name.empty())
      for (Value* v : unbounded) choose(v, limit);
  for (const auto& [name, limit] : bounds) {
    if (name.empty()) continue;
    for (Value* v : select_values(model, name)) {
      if (!known.contains(v))
        diag::warning("{} decides no shape without a bound; its bound is set all the same.", v->name());
      choose(v, limit);
    }
  }
  UpperBounds set;
  std::unordered_map<Graph*, NodeOrder> orders;
  for (Value* v : chosen) {
    bound(v, limits.at(v), orders.try_emplace(&v->graph(), v->graph()).first->second);
    set.emplace_back(v->name(), limits.at(v));
  }
  for (auto& [graph, order] : orders) order.commit();
  names.settle(model);
  return set;
}

}  // namespace assay
