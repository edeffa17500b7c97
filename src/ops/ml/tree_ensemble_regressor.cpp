// TreeEnsembleRegressor: the votes of all trees for each target, aggregated, plus the base values,
// transformed.
#include "ops/ml/tree_targets.h"
#include "ops/op_list.h"

namespace assay::op_ml_TreeEnsembleRegressor {
namespace {

int64_t target_count(const OpContext& c) {
  const int64_t targets = c.attr_int("n_targets", 0);
  c.check(targets > 0, "attribute 'n_targets' is {}; it must be positive", targets);
  return targets;
}

Aggregate read_aggregate(const OpContext& c) {
  const std::string& name = c.attr_string("aggregate_function");
  if (name == "AVERAGE") return Aggregate::kAverage;
  if (name == "SUM") return Aggregate::kSum;
  if (name == "MIN") return Aggregate::kMin;
  c.check(name == "MAX", "attribute 'aggregate_function' is '{}'; it must be AVERAGE, SUM, MIN or MAX", name);
  return Aggregate::kMax;
}

void infer(InferContext& c) {
  read_post_transform(c);
  read_aggregate(c);
  infer_score_rows(c, Dim(target_count(c)));
}

struct Model : TreeTargets {
  explicit Model(const OpContext& c)
      : TreeTargets{.targets = target_count(c),
                    .forest = Forest::from_node_lists(c, "target", target_count(c)),
                    .aggregate = read_aggregate(c),
                    .transform = read_post_transform(c),
                    .base = attr_numbers(c, "base_values")} {
    c.check(base.empty() || static_cast<int64_t>(base.size()) == targets, "{} base values for {} targets",
            base.size(), targets);
  }
};

std::unique_ptr<RowScorer> scorer(const OpContext& c) {
  return std::make_unique<TreeScorer<Model>>(c, DType::kFloat32);
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  X: T
out Y: float
attr aggregate_function: string = "SUM"
attr post_transform: string = "NONE"
attr n_targets: int
attr nodes_nodeids: ints
attr target_nodeids: ints
attr nodes_treeids: ints
attr nodes_featureids: ints
attr nodes_values: floats
attr target_weights: floats
attr nodes_falsenodeids: ints
attr nodes_hitrates: floats
attr base_values: floats
attr nodes_missing_value_tracks_true: ints
attr nodes_modes: strings
attr nodes_truenodeids: ints
attr target_treeids: ints
attr target_ids: ints
type T: float double int64 int32)",
     infer, eval_scores<Model>},
    {3, R"(
in  X: T
out Y: float
attr base_values_as_tensor: tensor
attr aggregate_function: string = "SUM"
attr post_transform: string = "NONE"
attr n_targets: int
attr target_weights_as_tensor: tensor
attr target_ids: ints
attr nodes_nodeids: ints
attr nodes_treeids: ints
attr nodes_featureids: ints
attr target_nodeids: ints
attr nodes_values_as_tensor: tensor
attr target_weights: floats
attr nodes_falsenodeids: ints
attr nodes_hitrates: floats
attr base_values: floats
attr nodes_missing_value_tracks_true: ints
attr nodes_values: floats
attr nodes_hitrates_as_tensor: tensor
attr nodes_modes: strings
attr nodes_truenodeids: ints
attr target_treeids: ints
type T: float double int64 int32)",
     infer, eval_scores<Model>},
    {5, "same as ai.onnx.ml.TreeEnsembleRegressor-3", infer, eval_scores<Model>},
};

}  // namespace

constinit const OpDef def = {
    .domain = "ai.onnx.ml",
    .name = "TreeEnsembleRegressor",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kCustom, .bound = bound_scores<Model>},
    .scorer = scorer,
};

}  // namespace assay::op_ml_TreeEnsembleRegressor
