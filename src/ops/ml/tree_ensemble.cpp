// TreeEnsemble: the votes of all trees for each target, aggregated and transformed. A tree's branches and
// leaves are listed apart.
#include "ops/ml/forest.h"
#include "ops/ml/post_transform.h"
#include "ops/ml/score_rows.h"
#include "ops/op_list.h"

namespace assay::op_ml_TreeEnsemble {
namespace {

int64_t target_count(const OpContext& c) {
  const int64_t targets = c.attr_int("n_targets", 0);
  c.check(targets > 0, "attribute 'n_targets' is {}; it must be positive", targets);
  return targets;
}

Aggregate read_aggregate(const OpContext& c) {
  const int64_t number = c.attr_int("aggregate_function");
  c.check(number >= 0 && number <= 3, "attribute 'aggregate_function' is {}; it must be 0 to 3", number);
  return static_cast<Aggregate>(number);
}

void infer(InferContext& c) {
  read_aggregate(c);
  read_post_transform_number(c);
  c.set_output(0, c.input_dtype(0), {infer_rows(c), Dim(target_count(c))});
}

template <typename N>
ScoreRows<N> regress(const EvalContext& c) {
  const int64_t targets = target_count(c);
  const Forest forest = Forest::from_branches_and_leaves(c, targets);
  const Aggregate aggregate = read_aggregate(c);
  const PostTransform transform = read_post_transform_number(c);
  const Features x(c);
  forest.check_features(c, x.count);
  const auto cost = static_cast<int64_t>(forest.tree_count()) * 16;
  return score_rows<N>(x, targets, cost, [&](const double* row, std::span<N> scores) {
    forest.vote(row, aggregate, scores);
    apply(transform, scores);
    return size_t{0};
  });
}

void eval(EvalContext& c) { c.set_output(0, score_tensor(regress<double>(c))); }
Tensor bound(EvalContext& c, double u, size_t, const Tensor&) { return score_errors(regress<Rounded>(c), u); }

constexpr OpVersion kVersions[] = {
    {5, R"(
in  X: T
out Y: T
attr aggregate_function: int = 1
attr post_transform: int = 0
attr tree_roots: ints required
attr nodes_hitrates: tensor
attr nodes_missing_value_tracks_true: ints
attr nodes_modes: tensor required
attr leaf_weights: tensor required
attr leaf_targetids: ints required
attr nodes_falsenodeids: ints required
attr n_targets: int
attr nodes_trueleafs: ints required
attr nodes_featureids: ints required
attr nodes_splits: tensor required
attr nodes_falseleafs: ints required
attr nodes_truenodeids: ints required
attr membership_values: tensor
type T: @float)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "ai.onnx.ml",
    .name = "TreeEnsemble",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kCustom, .bound = bound},
};

}  // namespace assay::op_ml_TreeEnsemble
