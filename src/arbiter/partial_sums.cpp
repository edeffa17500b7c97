#include "arbiter/partial_sums.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <vector>

#include "graph/read.h"

namespace assay {
namespace {

/// Places along the way at which the sum is looked at.
constexpr int64_t kPlaces = 16;

/// The factor that is cut short, and those of its axes that are summed over.
struct Summed {
  size_t input = 0;
  std::vector<size_t> axes;
};

std::vector<size_t> axes_from(size_t first, size_t rank) {
  std::vector<size_t> axes(rank > first ? rank - first : 0);
  std::iota(axes.begin(), axes.end(), first);
  return axes;
}

std::optional<std::vector<size_t>> reduced_axes(const Trial& trial, size_t rank) {
  std::vector<int64_t> given = ints_attribute(trial.node(), "axes");
  if (trial.inputs().size() > 1 && trial.inputs()[1].defined()) {
    if (trial.inputs()[1].dtype() != DType::kInt64) return std::nullopt;
    const auto list = trial.inputs()[1].span<int64_t>();
    given.assign(list.begin(), list.end());
  }
  if (given.empty()) return axes_from(0, rank);
  std::vector<size_t> axes;
  for (const int64_t a : given)
    axes.push_back(static_cast<size_t>(a < 0 ? a + static_cast<int64_t>(rank) : a));
  std::ranges::sort(axes);
  if (axes.back() >= rank) return std::nullopt;
  return axes;
}

std::optional<Summed> summed_by(const Trial& trial) {
  const Node& n = trial.node();
  const std::vector<Tensor>& inputs = trial.inputs();
  const auto rank = [&](size_t i) {
    return i < inputs.size() && inputs[i].defined() && inputs[i].dtype() == DType::kFloat64
               ? inputs[i].shape().size()
               : size_t{0};
  };
  if (is_op(n, "Conv") && rank(1) > 2) return Summed{1, axes_from(1, rank(1))};
  if (is_op(n, "ConvTranspose") && rank(1) > 2) {
    std::vector<size_t> axes = axes_from(1, rank(1));
    axes[0] = 0;
    return Summed{1, axes};
  }
  if (is_op(n, "MatMul") && rank(1) > 0) return Summed{1, {rank(1) == 1 ? 0 : rank(1) - 2}};
  if (is_op(n, "Gemm") && rank(1) == 2)
    return Summed{1, {int_attribute(n, "transB", 0) != 0 ? size_t{1} : 0}};
  if (is_op(n, "GlobalAveragePool") && rank(0) > 2) return Summed{0, axes_from(2, rank(0))};
  if ((is_op(n, "ReduceSum") || is_op(n, "ReduceMean")) && rank(0) > 0)
    if (std::optional<std::vector<size_t>> axes = reduced_axes(trial, rank(0))) return Summed{0, *axes};
  return std::nullopt;
}

/// Zeros from the `end`th number on, counted along the axes in the order given, the last one fastest.
Tensor cut_short(const Tensor& t, const std::vector<size_t>& axes, int64_t end) {
  Tensor out = map_elements<double>(t, [](double x) { return x; });
  auto* x = out.mutable_data<double>();
  const Shape& shape = t.shape();
  std::vector<int64_t> weight(shape.size(), 0);
  int64_t unit = 1;
  for (size_t i = axes.size(); i-- > 0; unit *= shape[axes[i]]) weight[axes[i]] = unit;
  for (int64_t i = 0; i < out.numel(); ++i) {
    int64_t place = 0, rest = i;
    for (size_t d = shape.size(); d-- > 0; rest /= shape[d]) place += rest % shape[d] * weight[d];
    if (place >= end) x[i] = 0;
  }
  return out;
}

/// The sum of the squares of all partial sums of every element; empty where it cannot be had.
std::vector<double> squares_of_walk(const Trial& trial, const Summed& summed, const std::vector<size_t>& axes,
                                    const Tensor& offset, int64_t terms) {
  std::vector<double> squares;
  const int64_t places = std::min(kPlaces, terms);
  for (int64_t k = 1; k <= places; ++k) {
    std::vector<Tensor> inputs = trial.inputs();
    inputs[summed.input] = cut_short(inputs[summed.input], axes, k * terms / places);
    const Tensor sum = trial.evaluate(std::move(inputs));
    if (!sum.defined() || sum.dtype() != DType::kFloat64 || sum.shape() != offset.shape()) return {};
    squares.resize(static_cast<size_t>(sum.numel()));
    const double *s = sum.data<double>(), *o = offset.data<double>();
    // A bias is added last, or first.
    for (size_t i = 0; i < squares.size(); ++i)
      squares[i] += std::max((s[i] - o[i]) * (s[i] - o[i]), s[i] * s[i]) * static_cast<double>(terms) /
                    static_cast<double>(places);
  }
  return squares;
}

}  // namespace

bool widen_for_partial_sums(const Trial& trial, double u, Explained& explained) {
  const std::optional<Summed> summed = summed_by(trial);
  if (!summed) return false;
  const Tensor& factor = trial.inputs()[summed->input];
  int64_t terms = 1;
  for (const size_t a : summed->axes) terms *= factor.dim(a);
  if (terms < 2) return false;
  std::vector<Tensor> none = trial.inputs();
  none[summed->input] = Tensor::zeros(DType::kFloat64, factor.shape());
  const Tensor offset = trial.evaluate(std::move(none));
  if (!offset.defined() || offset.shape() != explained.most.shape()) return false;
  std::vector<std::vector<size_t>> orders = {summed->axes};
  if (summed->axes.size() > 1) {  // channels last
    orders.push_back(summed->axes);
    std::rotate(orders[1].begin(), orders[1].begin() + 1, orders[1].end());
  }
  // A mean divides the sum by the number of its addends, and its partial sums are divided with it.
  auto* most = explained.most.mutable_data<double>();
  const double* possible = explained.possible.defined() ? explained.possible.data<double>() : nullptr;
  for (const std::vector<size_t>& axes : orders) {
    const std::vector<double> squares = squares_of_walk(trial, *summed, axes, offset, terms);
    for (size_t i = 0; i < squares.size(); ++i) {
      const double expected = kOwnFactor * u * std::sqrt(squares[i]);
      if (!std::isfinite(expected)) continue;
      most[i] = std::max(most[i], possible != nullptr ? std::min(expected, possible[i]) : expected);
    }
  }
  return true;
}

}  // namespace assay
