// TreeEnsembleClassifier: the trees' votes for each class plus the base values; the class with the largest
// score wins, and the scores are transformed.
//
// Two classes of which the leaves only vote for number 0 are the exporters' binary form: the votes are the
// score of the second class, which wins above 0.5 when no vote is negative, else above 0. The first class
// gets the score that two_scores() says. (So do ONNX Runtime and ONNX's reference implementation; what they
// make of other models of two classes differs, and the specification's text holds.)
#include "ops/ml/post_transform.h"
#include "ops/ml/tree_scorer.h"
#include "ops/op_list.h"

namespace assay::op_ml_TreeEnsembleClassifier {
namespace {

/// A classifier's attributes.
struct Model {
  explicit Model(const OpContext& c);

  int64_t width() const { return static_cast<int64_t>(labels.size()); }
  const ClassLabels* classes() const { return &labels; }
  void take_features(const OpContext& c, int64_t count) const { forest.check_features(c, count); }
  int64_t cost() const { return forest.cost(); }
  template <typename N>
  size_t score(const double* x, std::span<N> scores) const {
    forest.vote(x, aggregate, scores);
    return finish(scores);
  }
  template <typename N>
  size_t finish(std::span<N> scores) const;

  ClassLabels labels;
  PostTransform transform;
  Forest forest;
  Aggregate aggregate = Aggregate::kSum;
  std::vector<double> base;
  bool binary, positive;
};

Model::Model(const OpContext& c)
    : labels(c, "classlabels_int64s", "classlabels_strings"),
      transform(read_post_transform(c)),
      forest(Forest::from_node_lists(c, "class", static_cast<int64_t>(labels.size()))),
      base(attr_numbers(c, "base_values")),
      positive(forest.votes_are_positive()) {
  const std::vector<int64_t> ids = c.attr_ints("class_ids");
  binary = labels.size() == 2 && std::all_of(ids.begin(), ids.end(), [](int64_t id) { return id == 0; });
  c.check(base.empty() || base.size() == labels.size() || (labels.size() == 2 && base.size() == 1),
          "{} base values for {} classes", base.size(), labels.size());
}

template <typename N>
size_t Model::finish(std::span<N> scores) const {
  for (size_t k = 0; k < base.size(); ++k) scores[k] += N(base[k]);
  if (binary) {
    const N s = scores[0];
    std::ranges::copy(two_scores(transform, s, positive), scores.begin());
    return value_of(s) > (positive ? 0.5 : 0) ? 1 : 0;
  }
  // A lone class wins when its score is positive.
  const size_t best =
      scores.size() > 1 || value_of(scores[0]) > 0 ? best_class<N>(scores) : ClassLabels::kNoLabel;
  apply(transform, scores);
  return best;
}

void infer(InferContext& c) {
  read_post_transform(c);
  const ClassLabels labels(c, "classlabels_int64s", "classlabels_strings");
  infer_classifier(c, labels, Dim(static_cast<int64_t>(labels.size())));
}

std::unique_ptr<RowScorer> scorer(const OpContext& c) {
  return std::make_unique<TreeScorer<Model>>(c, DType::kFloat32);
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  X: T1
out Y: T2
out Z: float
attr post_transform: string = "NONE"
attr classlabels_int64s: ints
attr nodes_nodeids: ints
attr classlabels_strings: strings
attr class_ids: ints
attr class_weights: floats
attr nodes_treeids: ints
attr nodes_featureids: ints
attr nodes_values: floats
attr nodes_falsenodeids: ints
attr nodes_hitrates: floats
attr base_values: floats
attr nodes_missing_value_tracks_true: ints
attr nodes_modes: strings
attr nodes_truenodeids: ints
attr class_treeids: ints
attr class_nodeids: ints
type T1: float double int64 int32
type T2: string int64)",
     infer, eval_scores<Model>},
    {3, R"(
in  X: T1
out Y: T2
out Z: float
attr base_values_as_tensor: tensor
attr post_transform: string = "NONE"
attr classlabels_int64s: ints
attr class_weights_as_tensor: tensor
attr class_weights: floats
attr classlabels_strings: strings
attr class_ids: ints
attr nodes_nodeids: ints
attr nodes_treeids: ints
attr nodes_featureids: ints
attr nodes_values_as_tensor: tensor
attr nodes_falsenodeids: ints
attr nodes_hitrates: floats
attr base_values: floats
attr nodes_missing_value_tracks_true: ints
attr nodes_values: floats
attr nodes_hitrates_as_tensor: tensor
attr nodes_modes: strings
attr nodes_truenodeids: ints
attr class_treeids: ints
attr class_nodeids: ints
type T1: float double int64 int32
type T2: string int64)",
     infer, eval_scores<Model>},
    {5, "same as ai.onnx.ml.TreeEnsembleClassifier-3", infer, eval_scores<Model>},
};

}  // namespace

constinit const OpDef def = {
    .domain = "ai.onnx.ml",
    .name = "TreeEnsembleClassifier",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kCustom, .bound = bound_scores<Model>},
    .scorer = scorer,
    .facts =
        {
            .compares = {{{.reach = ComparisonFact::Reach::kAll}}},
        },
};

}  // namespace assay::op_ml_TreeEnsembleClassifier
