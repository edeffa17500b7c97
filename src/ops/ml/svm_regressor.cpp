// SVMRegressor: the sum over the support vectors of coefficient times kernel, plus rho. Without support
// vectors (n_supports is 0) the coefficients are a linear model. A one-class machine says 1 (inside) or -1
// instead.
#include "ops/ml/post_transform.h"
#include "ops/ml/scored_op.h"
#include "ops/ml/svm.h"
#include "ops/op_list.h"

namespace assay::op_ml_SVMRegressor {
namespace {

void infer(InferContext& c) {
  read_post_transform(c);
  infer_score_rows(c, Dim(1));
}

/// A regressor's attributes.
struct Model {
  explicit Model(const OpContext& c)
      : coefficients(c.attr_floats("coefficients")),
        transform(read_post_transform(c)),
        one_class(c.attr_int("one_class") != 0) {
    const std::vector<double> offsets = c.attr_floats("rho");
    c.check(!offsets.empty() && !coefficients.empty(),
            "the attributes 'rho' and 'coefficients' must have numbers");
    rho = offsets[0];
    const int64_t supports = c.attr_int("n_supports");
    c.check(supports >= 0, "attribute 'n_supports' is {}", supports);
    features = static_cast<int64_t>(coefficients.size());
    if (supports == 0) return;
    vectors.emplace(c, supports);
    c.check(static_cast<int64_t>(coefficients.size()) == supports, "{} coefficients for {} support vectors",
            coefficients.size(), supports);
    features = vectors->features;
  }

  int64_t width() const { return 1; }
  const ClassLabels* classes() const { return nullptr; }
  void take_features(const OpContext& c, int64_t count) const {
    c.check(count == features, "the input has {} features, the machine {}", count, features);
  }
  int64_t cost() const { return (vectors ? vectors->count : 1) * features; }
  template <typename N>
  size_t score(const double* x, std::span<N> scores) const {
    scores[0] = sum<N>(x);
    if (one_class)
      scores[0] = value_of(scores[0]) > 0 ? 1 : -1;
    else
      apply(transform, scores);
    return 0;
  }
  template <typename N>
  N sum(const double* x) const {
    if (!vectors)
      return SvmKernel::linear().template operator()<N>(coefficients.data(), x, features) + N(rho);
    N total = 0;
    for (int64_t j = 0; j < vectors->count; ++j)
      total += N(coefficients[static_cast<size_t>(j)]) *
               vectors->kernel.template operator()<N>(x, vectors->row(j), features);
    return total + N(rho);
  }

  std::vector<double> coefficients;
  PostTransform transform;
  bool one_class;
  double rho;
  std::optional<SupportVectors> vectors;
  int64_t features;
};

constexpr OpVersion kVersions[] = {
    {1, R"(
in  X: T
out Y: float
attr rho: floats
attr coefficients: floats
attr n_supports: int = 0
attr one_class: int = 0
attr support_vectors: floats
attr post_transform: string = "NONE"
attr kernel_params: floats
attr kernel_type: string = "LINEAR"
type T: float double int64 int32)",
     infer, eval_scores<Model>},
};

}  // namespace

constinit const OpDef def = {
    .domain = "ai.onnx.ml",
    .name = "SVMRegressor",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kCustom, .bound = bound_scores<Model>},
    .scorer = make_model_scorer<Model>,
};

}  // namespace assay::op_ml_SVMRegressor
