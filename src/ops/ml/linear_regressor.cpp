// LinearRegressor: one linear model for each target, and a transform of the targets of a row.
#include "ops/ml/linear.h"
#include "ops/ml/post_transform.h"
#include "ops/ml/score_rows.h"
#include "ops/op_list.h"

namespace assay::op_ml_LinearRegressor {
namespace {

void infer(InferContext& c) {
  const LinearModel model(c, c.attr_int("targets"));
  read_post_transform(c);
  infer_score_rows(c, Dim(model.rows));
}

template <typename N>
ScoreRows<N> regress(const EvalContext& c) {
  LinearModel model(c, c.attr_int("targets"));
  const PostTransform transform = read_post_transform(c);
  const Features x(c);
  model.take_features(c, x);
  return score_rows<N>(x, model.rows, model.rows * x.count, [&](const double* row, std::span<N> scores) {
    for (int64_t r = 0; r < model.rows; ++r) scores[static_cast<size_t>(r)] = model.score<N>(r, row);
    apply(transform, scores);
    return size_t{0};
  });
}

void eval(EvalContext& c) { c.set_output(0, score_tensor(regress<double>(c))); }
Tensor bound(EvalContext& c, double u, size_t, const Tensor&) { return score_errors(regress<Rounded>(c), u); }

constexpr OpVersion kVersions[] = {
    {1, R"(
in  X: T
out Y: float
attr targets: int = 1
attr intercepts: floats
attr coefficients: floats
attr post_transform: string = "NONE"
type T: float double int64 int32)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "ai.onnx.ml",
    .name = "LinearRegressor",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kCustom, .bound = bound},
};

}  // namespace assay::op_ml_LinearRegressor
