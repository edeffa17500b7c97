// CDist: the Euclidean distance, or its square, of every row of A to every row of B.
#include <cmath>

#include "ops/eval_util.h"
#include "ops/op_list.h"
#include "ops/work.h"

namespace assay::op_ms_CDist {
namespace {

bool is_squared(const OpContext& c) {
  const std::string& metric = c.attr_string("metric");
  c.check(metric == "sqeuclidean" || metric == "euclidean",
          "metric must be euclidean or sqeuclidean, not '{}'", metric);
  return metric == "sqeuclidean";
}

void infer(InferContext& c) {
  is_squared(c);
  const Dims *a = c.input_dims(0), *b = c.input_dims(1);
  for (const Dims* d : {a, b})
    c.check(d == nullptr || d->size() == 2, "an input has {} dimensions where 2 are needed",
            d ? d->size() : 0);
  if (a != nullptr && b != nullptr && (*a)[1].is_known() && (*b)[1].is_known())
    c.check((*a)[1].value() == (*b)[1].value(), "rows of {} and {} elements have no distance",
            (*a)[1].value(), (*b)[1].value());
  c.set_output(0, c.input_dtype(0), {a ? (*a)[0] : Dim(), b ? (*b)[0] : Dim()});
}

/// f(a row, b row, length) for every pair of rows.
template <typename F>
Tensor for_pairs(const EvalContext& c, F f) {
  const Shape &a = c.shape(0), &b = c.shape(1);
  c.check(a.size() == 2 && b.size() == 2 && a[1] == b[1], "inputs of shapes {} and {} have no distances",
          a.str(), b.str());
  Tensor y = Tensor::allocate(DType::kFloat64, {a[0], b[0]});
  const double *pa = c.input(0).data<double>(), *pb = c.input(1).data<double>();
  double* to = y.mutable_data<double>();
  parallel_for(y.numel(), 256, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) to[i] = f(pa + i / b[0] * a[1], pb + i % b[0] * a[1], a[1]);
  });
  return y;
}

double squared_distance(const double* a, const double* b, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

void eval(EvalContext& c) {
  const bool squared = is_squared(c);
  c.set_output(0, for_pairs(c, [=](const double* a, const double* b, int64_t n) {
                 const double d = squared_distance(a, b, n);
                 return squared ? d : std::sqrt(d);
               }));
}

/// Kernels expand the square: the sums of a^2, b^2 and 2 ab cancel. A root of a number that errs by e errs by
/// at most the root of e.
Tensor bound(EvalContext& c, double u, size_t, const Tensor&) {
  const bool squared = is_squared(c);
  return for_pairs(c, [=](const double* a, const double* b, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; ++i)
      sum += (std::fabs(a[i]) + std::fabs(b[i])) * (std::fabs(a[i]) + std::fabs(b[i]));
    const double error = u * static_cast<double>(n + 4) * sum;
    if (squared) return error;
    const double root = std::sqrt(squared_distance(a, b, n));
    return (root > 0 ? std::fmin(std::sqrt(error), error / root) : std::sqrt(error)) + u * root;
  });
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  A: T
in  B: T
out C: T
attr metric: string = "sqeuclidean"
type T: float double)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "com.microsoft",
    .name = "CDist",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kCustom, .bound = bound},
    .facts =
        {
            .extra_steps = row_product_steps,
        },
};

}  // namespace assay::op_ms_CDist
