// LinearRegressor: one linear model for each target, and a transform of the targets of a row.
#include "ops/ml/linear.h"
#include "ops/ml/post_transform.h"
#include "ops/ml/scored_op.h"
#include "ops/op_list.h"

namespace assay::op_ml_LinearRegressor {
namespace {

void infer(InferContext& c) {
  const LinearModel model(c, c.attr_int("targets"));
  read_post_transform(c);
  infer_score_rows(c, Dim(model.rows));
}

struct Model {
  explicit Model(const OpContext& c) : linear(c, c.attr_int("targets")), transform(read_post_transform(c)) {}

  int64_t width() const { return linear.rows; }
  const ClassLabels* classes() const { return nullptr; }
  void take_features(const OpContext& c, int64_t count) { linear.take_features(c, count); }
  int64_t cost() const { return linear.rows * linear.features; }
  template <typename N>
  size_t score(const double* x, std::span<N> scores) const {
    for (int64_t r = 0; r < linear.rows; ++r) scores[static_cast<size_t>(r)] = linear.score<N>(r, x);
    apply(transform, scores);
    return 0;
  }

  LinearModel linear;
  PostTransform transform;
};

constexpr OpVersion kVersions[] = {
    {1, R"(
in  X: T
out Y: float
attr targets: int = 1
attr intercepts: floats
attr coefficients: floats
attr post_transform: string = "NONE"
type T: float double int64 int32)",
     infer, eval_scores<Model>},
};

}  // namespace

constinit const OpDef def = {
    .domain = "ai.onnx.ml",
    .name = "LinearRegressor",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kCustom, .bound = bound_scores<Model>},
    .scorer = make_model_scorer<Model>,
};

}  // namespace assay::op_ml_LinearRegressor
