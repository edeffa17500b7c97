// ReduceLogSumExp: y = ln(sum of e^x), computed as m + ln(sum of e^(x - m)) with the largest element m;
// minus infinity for no elements. Integers (before version 28) are computed in float64 and truncated.
#include <cmath>
#include <limits>

#include "ops/math/wrapping.h"
#include "ops/numerics/rounding.h"
#include "ops/op_list.h"
#include "ops/reduce/reduce_common.h"

namespace assay::op_onnx_ReduceLogSumExp {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Tensor log_sum_exp(const Tensor& x, const std::vector<bool>& is_reduced, bool keepdims) {
  const auto same = [](double x) { return x; };
  // An infinite m would make inf - inf of every equal element; e^x needs no shift then.
  const auto finite = [](double m) { return std::isinf(m) ? 0.0 : m; };
  const Tensor shift = reduce<double>(
      x, plan_reduction(x.shape(), is_reduced, true), -kInfinity, same,
      [](double a, double b) { return larger(a, b); }, finite);
  const Tensor powers = map_broadcast<double>(x, shift, [](double x, double m) { return std::exp(x - m); });
  const Reduction r = plan_reduction(x.shape(), is_reduced, keepdims);
  const Tensor logs = reduce<double>(
      powers, r, 0.0, same, [](double a, double b) { return a + b; },
      [](double sum) { return std::log(sum); });
  return map_broadcast<double>(logs, shift.reshaped(r.output), [](double log, double m) { return m + log; });
}

void eval(EvalContext& c) {
  const std::vector<bool> flags = reduced_flags(c);
  const bool keepdims = c.attr_int("keepdims") != 0;
  visit_summable(c.input(0).dtype(), [&]<typename T>() {
    if constexpr (std::is_floating_point_v<T>) {
      c.set_output(0, log_sum_exp(c.input(0), flags, keepdims));
    } else {
      const Tensor x = map_elements<T, double>(c.input(0), [](T x) { return static_cast<double>(x); });
      c.set_output(0, map_elements<double, T>(log_sum_exp(x, flags, keepdims),
                                              [](double y) { return truncate_to<T>(y); }));
    }
  });
}

/// With the shift: rounding x - m costs each power |x - m| e^(x - m); the powers, their sum and its logarithm
/// (at most ln n, counted with the library's error) follow, then the last sum. `additions` are the roundings
/// of the sum and of its differences.
Tensor errors(double u, const Tensor& y, double n, double additions, double ulps) {
  const double fixed = additions + ulps * (1 + std::log(std::max(n, 1.0)));
  return map_elements<double>(
      y, [=](double y) { return std::isfinite(y) ? u * (fixed + (ulps + 1) * std::abs(y)) : 0.0; });
}

/// |x - m| e^(x - m) is at most 1/e, so that all differences cost less than n.
Tensor bound(EvalContext& c, double u, size_t, const Tensor& y) {
  const auto n = static_cast<double>(plan_reduction(c).count);
  return errors(u, y, n, 2 * n, kLibraryUlps);
}

/// Weighted by the powers, the differences are at most ln n on average.
Tensor expected(EvalContext& c, double u, size_t, const Tensor& y) {
  const auto n = static_cast<double>(plan_reduction(c).count);
  return errors(u, y, n, expected_additions(n), 2);
}

constexpr OpVersion kVersions[] = {
    {1, "same as ReduceL1-1", infer_reduce, eval},       {11, "same as ReduceL1-1", infer_reduce, eval},
    {13, "same as ReduceL1-13", infer_reduce, eval},     {18, "same as ReduceL1-18", infer_reduce, eval},
    {28, "same as ReduceLogSum-28", infer_reduce, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "ReduceLogSumExp",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kCustom, .bound = bound, .expected = expected},
    .facts =
        {
            .mixes_axis = true,
            .uses = {{{.kind = InputUse::Kind::kAxis, .input = 1}}},
        },
};

}  // namespace assay::op_onnx_ReduceLogSumExp
