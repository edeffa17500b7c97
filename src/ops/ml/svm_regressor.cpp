// SVMRegressor: the sum over the support vectors of coefficient times kernel, plus rho. Without support
// vectors (n_supports is 0) the coefficients are a linear model. A one-class machine says 1 (inside) or -1
// instead.
#include "ops/ml/post_transform.h"
#include "ops/ml/score_rows.h"
#include "ops/ml/svm.h"
#include "ops/op_list.h"

namespace assay::op_ml_SVMRegressor {
namespace {

void infer(InferContext& c) {
  read_post_transform(c);
  infer_score_rows(c, Dim(1));
}

/// A regressor's attributes.
struct Machine {
  explicit Machine(const OpContext& c) : coefficients(c.attr_floats("coefficients")) {
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

  template <typename N>
  N score(const double* x) const {
    if (!vectors)
      return SvmKernel::linear().template operator()<N>(coefficients.data(), x, features) + N(rho);
    N sum = 0;
    for (int64_t j = 0; j < vectors->count; ++j)
      sum += N(coefficients[static_cast<size_t>(j)]) *
             vectors->kernel.template operator()<N>(x, vectors->row(j), features);
    return sum + N(rho);
  }

  std::vector<double> coefficients;
  double rho;
  std::optional<SupportVectors> vectors;
  int64_t features;
};

template <typename N>
ScoreRows<N> regress(const EvalContext& c) {
  const Machine machine(c);
  const PostTransform transform = read_post_transform(c);
  const bool one_class = c.attr_int("one_class") != 0;
  const Features x(c);
  c.check(x.count == machine.features, "the input has {} features, the machine {}", x.count,
          machine.features);
  const int64_t cost = (machine.vectors ? machine.vectors->count : 1) * x.count;
  return score_rows<N>(x, 1, cost, [&](const double* row, std::span<N> scores) {
    scores[0] = machine.score<N>(row);
    if (one_class)
      scores[0] = value_of(scores[0]) > 0 ? 1 : -1;
    else
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
attr rho: floats
attr coefficients: floats
attr n_supports: int = 0
attr one_class: int = 0
attr support_vectors: floats
attr post_transform: string = "NONE"
attr kernel_params: floats
attr kernel_type: string = "LINEAR"
type T: float double int64 int32)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "ai.onnx.ml",
    .name = "SVMRegressor",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kCustom, .bound = bound},
};

}  // namespace assay::op_ml_SVMRegressor
