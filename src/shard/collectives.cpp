#include "shard/collectives.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "assay/edit.h"
#include "assay/error.h"
#include "base/diagnostics.h"
#include "base/wording.h"
#include "graph/clone.h"
#include "graph/order.h"
#include "ops/infer.h"
#include "shard/refuse.h"

namespace assay {

ShardNames::ShardNames(const Graph& graph) {
  for (const auto& v : graph.values()) taken_.insert(v->name());
  for (const auto& n : graph.nodes()) taken_.insert(n->name);
  for (const Graph* inner : subgraphs(graph, /*recursive=*/true))
    for (const auto& v : inner->values()) taken_.insert(v->name());
}

std::string ShardNames::next(const std::string& prefix) {
  for (;;) {
    std::string name = fmt::format("{}{}shard_{}", prefix, prefix.empty() ? "" : "_", count_++);
    if (taken_.insert(name).second) return name;
  }
}

void make_node_names_unique(Graph& graph, ShardNames& names) {
  std::unordered_set<std::string> seen;
  for (const auto& n : graph.nodes()) {
    if (seen.insert(n->name).second) continue;
    const std::string name = names.next(n->name);
    diag::warning("Duplicate node name '{}' renamed to '{}' (op={})", n->name, name, n->op_type);
    n->name = name;
  }
}

namespace {

struct CollectiveForm {
  const char *reduce_op, *operation;
};

CollectiveForm form_of(Collective what, const CollectiveHint& hint) {
  if (what == Collective::kAllGather) return {"none", "all_gather"};
  if (what == Collective::kAllReduce) return {"sum", "all_reduce"};
  return {hint.reduce_op.c_str(), "reduce_scatter"};
}

/// The rank that a transposition needs.
int64_t require_rank(const Value& v, int64_t dim, const std::optional<int64_t>& rank) {
  const bool has_shape = v.type.has_shape();
  if (!rank && !has_shape)
    refuse_to_shard(
        fmt::format("Transpose for tensor {} is missing rank information in tensor or configuration",
                    v.name()),
        Say::kShapesOrRank);
  const auto known = has_shape ? static_cast<int64_t>(v.type.dims->size()) : *rank;
  if (rank && known != *rank)
    refuse_to_shard(fmt::format("The hints say that tensor {} has {} dimensions, but in the model it has {}",
                                v.name(), *rank, known),
                    Say::kWriteHints);
  if (dim >= known)
    refuse_to_shard(fmt::format("Transpose idx for tensor {} is out of range for rank: its dimensions are 0 "
                                "to {}, and the sequence is to be "
                                "{}",
                                v.name(), known - 1, dim),
                    "Correct the index of the sequence dimension in the hints.");
  return known;
}

}  // namespace

std::optional<Dims> CollectiveAdder::changed_dims(Collective what, const Value& v) const {
  if (!v.type.has_shape() || v.type.dims->empty()) return std::nullopt;
  Dims dims = *v.type.dims;
  const int64_t ranks = hint_.ranks();
  const bool grows = what == Collective::kAllGather && scattered_.contains(&v);
  if ((what != Collective::kReduceScatter && !grows) || ranks == 1) return dims;
  if (!dims[0].is_known() || grows) {
    dims[0] = dims[0].is_known() ? Dim(dims[0].value() * ranks) : Dim();
    return dims;
  }
  dims[0] = Dim(dims[0].value() / ranks);
  return dims;
}

Value* CollectiveAdder::add(const char* op_type, Value* v, AttributeList attributes,
                            std::optional<Dims> dims) {
  diag::info("Inserting {} for tensor: {}", op_type, v->name());
  Type type;  // unknown where the value's is: without an element type ONNX has no tensor type
  if (v->type.dtype != DType::kUndefined) type = Type::tensor(v->type.dtype);
  if (type.is_tensor()) type.dims = std::move(dims);
  Value* out = graph_.add_value(names_.next(), type);
  graph_.add_node(op_type, {v}, {out}, std::move(attributes), names_.next());
  return out;
}

Value* CollectiveAdder::bare_collective(Collective what, Value* v) {
  const CollectiveForm form = form_of(what, hint_);
  auto dims = changed_dims(what, *v);
  Value* out = add("DistCollective", v,
                   {{"group_size", hint_.group_size},
                    {"root", hint_.root},
                    {"nb_rank", hint_.nb_rank},
                    {"reduce_op", std::string(form.reduce_op)},
                    {"collective_operation", std::string(form.operation)},
                    {"groups", hint_.groups}},
                   std::move(dims));
  results_.insert(out);
  if (what == Collective::kReduceScatter) scattered_.insert(out);
  return out;
}

Value* CollectiveAdder::transpose(Value* v, const Permutation& perm) {
  std::optional<Dims> dims;
  if (v->type.has_shape()) {
    const Dims& old = *v->type.dims;
    if (old.size() != perm.size())
      refuse_to_shard(fmt::format("Tensor {} has {} dimensions and cannot be transposed by [{}]", v->name(),
                                  old.size(), fmt::join(perm, ", ")),
                      "Give a permutation of that many dimensions.");
    dims.emplace();
    for (const int64_t p : perm) dims->push_back(old.at(static_cast<size_t>(p)));
  }
  Value* out = add("Transpose", v, {{"perm", perm}}, std::move(dims));
  if (scattered_.contains(v)) scattered_.insert(out);
  return out;
}

void CollectiveAdder::require_divisible(const Value& v, int64_t dim) const {
  if (!v.type.has_shape() || dim >= static_cast<int64_t>(v.type.dims->size())) return;
  const Dim& extent = (*v.type.dims)[static_cast<size_t>(dim)];
  if (extent.is_known() && extent.value() % hint_.ranks() != 0)
    refuse_to_shard(
        fmt::format("Tensor {} cannot be scattered over {} ranks: its extent in dimension {} is {}", v.name(),
                    hint_.ranks(), dim, extent.value()),
        Say::kRanksOrDimension);
}

Value* CollectiveAdder::collective(Collective what, Value* v, int64_t dim,
                                   const std::optional<int64_t>& rank) {
  if (what == Collective::kReduceScatter) require_divisible(*v, dim);
  if (dim == 0) return bare_collective(what, v);
  Permutation swap(static_cast<size_t>(require_rank(*v, dim, rank)));
  std::iota(swap.begin(), swap.end(), int64_t{0});
  std::swap(swap[0], swap[static_cast<size_t>(dim)]);
  return transpose(bare_collective(what, transpose(v, swap)), swap);
}

void take_output_place(Value& output, Value& successor) {
  const std::string first = output.name(), second = successor.name();
  output.rename(output.graph().unique_name(second + "_part"));
  successor.rename(first);
  output.rename(second);
  std::swap(output.doc_string, successor.doc_string);
  std::swap(output.metadata, successor.metadata);
  std::swap(output.extra_fields, successor.extra_fields);
  successor.type = output.type;
}

namespace {

/// The error of inference; empty when there is none.
std::string problem_of(Model& model) {
  try {
    infer_shapes(model);
  } catch (const Error& e) {
    return e.what();
  }
  return {};
}

}  // namespace

ShapesBefore::ShapesBefore(const Model& model) {
  const std::shared_ptr<Model> copy = clone_model(model);
  sort_topologically(*copy->graph);
  was_possible_ = problem_of(*copy).empty();
}

void ShapesBefore::update(Model& model, const std::unordered_set<const Value*>& fixed) const {
  Graph& g = *model.graph;
  const std::unordered_set<const Value*> outputs(g.outputs.begin(), g.outputs.end());
  std::vector<std::pair<Value*, Type>> kept;
  for (const auto& n : g.nodes())
    for (Value* v : n->outputs()) {
      if (v == nullptr) continue;
      if (fixed.contains(v) || !v->type.has_shape())
        kept.emplace_back(v, v->type);
      else if (outputs.contains(v))
        v->type.dims = Dims(v->type.dims->size());  // ONNX's checker requires a rank
      else
        v->type.dims.reset();
    }
  const std::string problem = problem_of(model);
  for (auto& [v, type] : kept) v->type = std::move(type);
  if (problem.empty() || !was_possible_) return;
  Error e(ErrorCode::kInvalidArgument, fmt::format("the model cannot be sharded so: {}", problem));
  e.set_remedy(
      "What stands there for the whole tensor (a shape, a mask) has to be sharded, too, or to follow from "
      "the tensor.");
  throw e;
}

}  // namespace assay
