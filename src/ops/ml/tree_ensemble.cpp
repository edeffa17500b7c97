// TreeEnsemble: the votes of all trees for each target, aggregated and transformed. A tree's branches and
// leaves are listed apart.
#include "ops/ml/tree_targets.h"
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

struct Model : TreeTargets {
  explicit Model(const OpContext& c)
      : TreeTargets{.targets = target_count(c),
                    .forest = Forest::from_branches_and_leaves(c, target_count(c)),
                    .aggregate = read_aggregate(c),
                    .transform = read_post_transform_number(c)} {}
};

std::unique_ptr<RowScorer> scorer(const OpContext& c) {
  return std::make_unique<TreeScorer<Model>>(c, DType::kUndefined);
}

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
     infer, eval_scores<Model>},
};

}  // namespace

constinit const OpDef def = {
    .domain = "ai.onnx.ml",
    .name = "TreeEnsemble",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kCustom, .bound = bound_scores<Model>},
    .scorer = scorer,
};

}  // namespace assay::op_ml_TreeEnsemble
