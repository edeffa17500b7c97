// Sums over axes, planes, windows, inputs, and running ones.
#include <cmath>

#include "ops/eval_util.h"
#include "ops/nn/global_pool.h"
#include "ops/nn/lp_norm.h"
#include "ops/nn/pool.h"
#include "ops/reduce/cumulate.h"
#include "ops/reduce/reduce_common.h"
#include "ops/sums/sums.h"

namespace assay {
namespace {

/// Sums of f(x) for numbers x, and a function of the sum of n.
struct Formula {
  std::function<double(double x)> term;
  std::function<double(double sum, double n)> result;
};

double same(double x) { return x; }
double sum_alone(double sum, double) { return sum; }

Formula formula_of(std::string_view name, double largest) {
  if (name == "ReduceMean") return {same, [](double sum, double n) { return sum / n; }};
  if (name == "ReduceL1") return {[](double x) { return std::abs(x); }, sum_alone};
  if (name == "ReduceL2")
    return {[](double x) { return x * x; }, [](double s, double) { return std::sqrt(s); }};
  if (name == "ReduceSumSquare") return {[](double x) { return x * x; }, sum_alone};
  if (name == "ReduceLogSum") return {same, [](double s, double) { return std::log(s); }};
  if (name == "ReduceLogSumExp")
    return {[largest](double x) { return std::exp(x - largest); },
            [largest](double s, double) { return largest + std::log(s); }};
  return {same, sum_alone};
}

void set_one_sum(std::vector<double> terms, const std::function<double(double)>& result, SummedElement& out) {
  out.sums.push_back({.terms = std::move(terms), .inner = 0});
  out.result = [result](std::span<const double> sums) { return result(sums[0]); };
}

}  // namespace

bool sums_of_reduction(EvalContext& c, int64_t i, SummedElement& out) {
  if (c.input(0).dtype() != DType::kFloat64) return false;
  const Reduction r = plan_reduction(c);
  OffsetCursor kept(r.kept, r.kept_strides), reduced(r.reduced, r.reduced_strides);
  kept.seek(i);
  std::vector<double> terms(static_cast<size_t>(r.count));
  const double* x = c.input(0).data<double>() + kept.offset();
  double largest = -HUGE_VAL;
  for (double& t : terms) {
    t = x[reduced.offset()];
    largest = std::max(largest, t);
    reduced.next();
  }
  const Formula f = formula_of(c.op().name, largest);
  for (double& t : terms) t = f.term(t);
  const auto n = static_cast<double>(r.count);
  set_one_sum(
      std::move(terms), [f, n](double sum) { return f.result(sum, n); }, out);
  return true;
}

bool sums_of_planes(EvalContext& c, int64_t i, SummedElement& out) {
  const int64_t size = plane_size(c);
  const double* x = c.input(0).data<double>() + i * size;
  std::vector<double> terms(x, x + size);
  if (c.op().name == "GlobalLpPool") {
    const LpNorm norm(c);
    for (double& t : terms) t = norm.term(t);
    set_one_sum(
        std::move(terms), [norm](double sum) { return norm.root(sum); }, out);
  } else {
    set_one_sum(
        std::move(terms), [size](double sum) { return sum / static_cast<double>(size); }, out);
  }
  return true;
}

bool sums_of_window(EvalContext& c, int64_t i, SummedElement& out) {
  const PoolPlan plan = plan_pool(c);
  const int64_t size = plan.window.out_size(), plane = i / size;
  WindowTaps taps(plan.window);
  for (int64_t k = 0; k < i % size; ++k) taps.next();
  const double* x = c.input(0).data<double>() + plane * plan.window.in_size();
  std::vector<double> terms;
  taps.for_each([&](int64_t offset) { terms.push_back(x[offset]); });
  if (c.op().name == "LpPool") {
    const LpNorm norm(c);
    for (double& t : terms) t = norm.term(t);
    set_one_sum(
        std::move(terms), [norm](double sum) { return norm.root(sum); }, out);
    return true;
  }
  const bool padding = c.since() >= 7 && c.attr_int("count_include_pad") != 0;
  const auto n = static_cast<double>(padding ? taps.count_with_padding() : taps.count());
  set_one_sum(
      std::move(terms), [n](double sum) { return sum / n; }, out);
  return true;
}

bool sums_of_cumulation(EvalContext& c, int64_t i, SummedElement& out) {
  const Tensor& x = c.input(0);
  if (x.dtype() != DType::kFloat64) return false;
  const size_t axis = cumulated_axis(c);
  const int64_t n = x.dim(axis), inner = x.shape().numel(axis + 1, x.shape().size());
  const int64_t place = i / inner % n, first = i - place * inner;
  const bool exclusive = c.attr_int("exclusive") != 0, reverse = c.attr_int("reverse") != 0;
  const int64_t steps = (reverse ? n - 1 - place : place) + (exclusive ? 0 : 1);
  std::vector<double> terms;
  for (int64_t k = 0; k < steps; ++k)
    terms.push_back(x.data<double>()[first + (reverse ? n - 1 - k : k) * inner]);
  if (terms.empty()) return false;
  set_one_sum(std::move(terms), same, out);
  return true;
}

bool sums_of_inputs(EvalContext& c, int64_t i, SummedElement& out) {
  Shape shape;
  for (const Tensor& t : c.inputs()) shape = broadcast(shape, t.shape());
  std::vector<double> terms;
  for (const Tensor& t : c.inputs()) {
    if (t.dtype() != DType::kFloat64) return false;
    const std::vector<int64_t> strides = broadcast_strides(t.shape(), shape);
    OffsetCursor at(shape.dims(), strides);
    at.seek(i);
    terms.push_back(t.data<double>()[at.offset()]);
  }
  const double n = c.op().name == "Mean" ? static_cast<double>(terms.size()) : 1;
  set_one_sum(
      std::move(terms), [n](double sum) { return sum / n; }, out);
  return true;
}

}  // namespace assay
