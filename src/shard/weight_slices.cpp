#include "shard/weight_slices.h"

#include <fmt/format.h>

#include <algorithm>

#include "assay/error.h"
#include "base/diagnostics.h"
#include "base/wording.h"
#include "graph/clone.h"
#include "graph/read.h"
#include "shard/refuse.h"
#include "shard/slice.h"

namespace assay {
namespace {

constexpr Say kUncomputed = Say::kFoldConstants;

/// The axis of a Transpose's input that is this axis of its output.
size_t before_transpose(const Node& n, size_t axis) {
  const std::vector<int64_t> perm = ints_attribute(n, "perm");
  if (perm.empty()) return 1 - axis;  // weights are matrices
  if (axis >= perm.size() || perm[axis] < 0)
    fail(ErrorCode::kInvalidModel, "{} has no dimension {}", n.label(), axis);
  return static_cast<size_t>(perm[axis]);
}

std::string dims_text(const Shape& s) { return fmt::format("[{}]", fmt::join(s.dims(), ", ")); }

}  // namespace

int64_t WeightSlices::cut(Node& user, size_t input, size_t axis) {
  Value* v = user.input(input);
  if (v == nullptr) fail(ErrorCode::kInvalidModel, "{} has no input {}", user.label(), input);
  if (v->is_constant()) return cut_constant(*v, axis, {&user, input});
  Node* n = v->producer();
  const bool passes = n != nullptr && (is_op(*n, "Cast") || is_op(*n, "Identity") || is_op(*n, "Transpose") ||
                                       is_op(*n, "DequantizeLinear"));
  if (n == nullptr)
    refuse_to_shard(
        fmt::format("the weight '{}' of {} is an input of the model, and cannot be cut for {} ranks",
                    v->name(), user.label(), ranks_),
        "Only MatMuls with weights of their own can be sharded.");
  if (!passes)
    refuse_to_shard(fmt::format("the weight '{}' of {} is computed by {}, and cannot be cut for {} ranks",
                                v->name(), user.label(), n->label(), ranks_),
                    kUncomputed);
  if (v->consumers().size() > 1)
    refuse_to_shard(fmt::format("the weight '{}' of {} cannot be cut: another node uses it, too", v->name(),
                                user.label()),
                    "Give each node a copy of its own.");
  if (is_op(*n, "DequantizeLinear")) return cut_dequantized(*n, axis);
  return cut(*n, 0, is_op(*n, "Transpose") ? before_transpose(*n, axis) : axis);
}

int64_t WeightSlices::cut_dequantized(Node& n, size_t axis) {
  diag::info("Found node {}", n.name);
  const int64_t extent = cut(n, 0, axis);
  const Value* weight = n.input(0);
  // Where the weight itself is computed its rank may be unknown; it is a matrix.
  const size_t rank =
      weight->is_constant() && weight->tensor().defined() ? weight->tensor().shape().size() : 2;
  cut_parameter(n, 1, axis, rank);
  if (n.input(2) != nullptr) cut_parameter(n, 2, axis, rank);
  return extent;
}

/// A scale or zero point: a scalar is kept; one per index of an axis is sliced with that axis; blocks are
/// sliced like the weight.
void WeightSlices::cut_parameter(Node& n, size_t input, size_t axis, size_t rank) {
  const Value* v = n.input(input);
  const Value* source = v;
  while (!source->is_constant() && source->producer() != nullptr && !source->producer()->inputs().empty() &&
         source->producer()->input(0) != nullptr)
    source = source->producer()->input(0);
  if (!source->is_constant() || !source->tensor().defined())
    refuse_to_shard(fmt::format("the scale '{}' of {} is not known, and cannot be cut", v->name(), n.label()),
                    kUncomputed);
  const Shape& shape = source->tensor().shape();
  if (shape.numel() == 1 && shape.size() < rank) return;
  if (shape.size() == rank) {
    cut(n, input, axis);
    return;
  }
  const int64_t own = int_attribute(n, "axis", 1);
  const auto of_weight = static_cast<size_t>(own < 0 ? own + static_cast<int64_t>(rank) : own);
  if (shape.size() == 1 && of_weight == axis) cut(n, input, 0);
}

int64_t WeightSlices::cut_constant(Value& v, size_t axis, Use use) {
  const UnalignedTensor& t = v.tensor();
  if (!t.defined())
    refuse_to_shard(fmt::format("the weight '{}' was not loaded, and cannot be cut", v.name()),
                    Say::kLoadExternalData);
  if (axis >= t.shape().size() || t.shape()[axis] == 0 || t.shape()[axis] % ranks_ != 0)
    refuse_to_shard(fmt::format("{} cannot be TP sharded on {} ranks with shape {}", v.name(), ranks_,
                                dims_text(t.shape())),
                    Say::kRanks, {"the extent"});
  auto& uses = uses_[&v];
  if (std::none_of(uses.begin(), uses.end(), [&](const auto& u) { return u.first == axis; }))
    slices_.push_back({&v, axis});
  uses.emplace_back(axis, use);
  return t.shape()[axis];
}

void WeightSlices::separate_shared() {
  for (WeightSlice& s : slices_) {
    const auto& uses = uses_.at(s.weight);
    const Graph& g = s.weight->graph();
    const bool is_output = std::find(g.outputs.begin(), g.outputs.end(), s.weight) != g.outputs.end();
    const auto own = [&](const auto& u) { return u.first == s.axis; };
    std::vector<std::pair<Node*, size_t>> distinct;
    for (const auto& [axis, use] : uses)
      if (axis == s.axis &&
          std::find(distinct.begin(), distinct.end(), std::pair(use.user, use.input)) == distinct.end())
        distinct.emplace_back(use.user, use.input);
    if (!is_output && distinct.size() == s.weight->consumers().size() &&
        std::all_of(uses.begin(), uses.end(), own))
      continue;
    Value* copy = clone_value(*s.weight, s.weight->graph(), g.unique_name(s.weight->name() + "_shard"));
    for (const auto& [user, input] : distinct) user->set_input(input, copy);
    s.weight = copy;
  }
}

void keep_shapes_of_parts(const WeightSlices& slices) {
  for (const WeightSlice& s : slices.all()) {
    const auto whole = std::make_shared<UnalignedTensor>(s.weight->tensor());
    Shape shape = whole->shape();
    shape[s.axis] /= slices.ranks();
    s.weight->set_tensor(UnalignedTensor::view(whole->dtype(), shape, whole->data(), whole));
  }
}

void keep_slices_of_rank(Model& model, const WeightSlices& slices, int64_t rank) {
  for (const WeightSlice& s : slices.all()) {
    Value* weight = model.graph->find_value(s.weight->name());
    const UnalignedTensor whole = s.weight->tensor();
    const int64_t extent = whole.shape()[s.axis] / slices.ranks();
    weight->set_tensor(slice_along(whole, s.axis, rank * extent, (rank + 1) * extent));
  }
}

}  // namespace assay
