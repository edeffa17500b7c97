// ReduceLogSum: the natural logarithm of the sum of the elements; minus infinity for none. Integers
// (before version 28) are summed in their type, and the logarithm is truncated.
#include <cmath>

#include "ops/math/wrapping.h"
#include "ops/numerics/rounding.h"
#include "ops/op_list.h"
#include "ops/reduce/reduce_common.h"

namespace assay::op_onnx_ReduceLogSum {
namespace {

template <typename T>
T log_of_sum(T sum) {
  if constexpr (std::is_floating_point_v<T>)
    return std::log(sum);
  else
    return truncate_to<T>(std::log(static_cast<long double>(sum)));
}

void eval(EvalContext& c) {
  const Reduction r = plan_reduction(c);
  visit_summable(c.input(0).dtype(), [&]<typename T>() {
    c.set_output(0, reduce<T>(
                        c.input(0), r, T(0), [](T x) { return x; }, [](T a, T b) { return wrap_add(a, b); },
                        [](T sum) { return log_of_sum(sum); }));
  });
}

/// The error of the sum, relative to it, becomes an absolute error of the logarithm, which itself errs by
/// `ulps` u.
Tensor errors(const EvalContext& c, double u, const Tensor& y, const Reduction& r, double additions,
              double ulps) {
  const Tensor magnitude = reduce<double>(
      c.input(0), r, 0.0, [](double x) { return std::abs(x); }, [](double a, double b) { return a + b; },
      [](double sum) { return sum; });
  return map_broadcast<double>(magnitude, y, [=](double sum, double y) {
    return std::isfinite(y) ? u * (additions * sum / std::exp(y) + ulps * std::abs(y)) : 0.0;
  });
}

Tensor bound(EvalContext& c, double u, size_t, const Tensor& y) {
  const Reduction r = plan_reduction(c);
  return errors(c, u, y, r, static_cast<double>(r.count), kLibraryUlps);
}

Tensor expected(EvalContext& c, double u, size_t, const Tensor& y) {
  const Reduction r = plan_reduction(c);
  return errors(c, u, y, r, 1 + expected_additions(static_cast<double>(r.count)), kLibraryUlps / 2);
}

constexpr OpVersion kVersions[] = {
    {1, "same as ReduceL1-1", infer_reduce, eval},
    {11, "same as ReduceL1-1", infer_reduce, eval},
    {13, "same as ReduceL1-13", infer_reduce, eval},
    {18, "same as ReduceL1-18", infer_reduce, eval},
    {28, R"(
in  data: T
in  axes: int64 ?
out reduced: T
attr noop_with_empty_axes: int = 0
attr keepdims: int = 1
type T: @float_ir4)",
     infer_reduce, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "ReduceLogSum",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kCustom, .bound = bound, .expected = expected},
    .facts =
        {
            .mixes_axis = true,
            .uses = {{{.kind = InputUse::Kind::kAxis, .input = 1}}},
        },
};

}  // namespace assay::op_onnx_ReduceLogSum
