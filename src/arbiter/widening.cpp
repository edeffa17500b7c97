#include "arbiter/widening.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "graph/read.h"
#include "kernels/winograd/winograd.h"
#include "ops/numerics/noise.h"
#include "tensor/convert.h"

namespace assay {
namespace {

/// The largest of the absolute values of each number and those `step` away along an axis.
Tensor largest_nearby(const Tensor& t, size_t axis, int64_t step) {
  Tensor out = Tensor::allocate(DType::kFloat64, t.shape());
  int64_t inner = 1;
  for (size_t d = axis + 1; d < t.shape().size(); ++d) inner *= t.dim(d);
  const int64_t extent = t.dim(axis), outer = extent * inner == 0 ? 0 : t.numel() / (extent * inner);
  const double* x = t.data<double>();
  auto* y = out.mutable_data<double>();
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < extent; ++i)
      for (int64_t k = 0; k < inner; ++k) {
        const int64_t at = (o * extent + i) * inner + k;
        double largest = std::abs(x[at]);
        if (i >= step) largest = std::max(largest, std::abs(x[at - step * inner]));
        if (i + step < extent) largest = std::max(largest, std::abs(x[at + step * inner]));
        y[at] = largest;
      }
  return out;
}

/// Stride 1, and windows of more than one number along some axis.
bool has_tiles(const Node& n, const Tensor& weights) {
  if (!is_op(n, "Conv") || weights.shape().size() < 3) return false;
  bool wide = false;
  for (size_t d = 2; d < weights.shape().size(); ++d) wide = wide || weights.dim(d) > 1;
  const std::vector<int64_t> strides = ints_attribute(n, "strides");
  return wide && std::all_of(strides.begin(), strides.end(), [](int64_t i) { return i == 1; });
}

bool is_wide(const Tensor& t) { return t.defined() && t.dtype() == DType::kFloat64; }

/// Tiles of 4x4 results hold numbers up to three beside a result's window, those of 2x2 one.
std::vector<Tensor> magnitudes_nearby(const Trial& trial) {
  std::vector<Tensor> changed = trial.inputs();
  const Tensor& weights = changed[1];
  const int reach = weights.dim(1) >= kernels::kWinogradLargeTileChannels ? 3 : 1;
  const std::vector<int64_t> dilations = ints_attribute(trial.node(), "dilations");
  for (size_t d = 2; d < changed[0].shape().size(); ++d)
    for (int i = 0; weights.dim(d) > 1 && i < reach; ++i)
      changed[0] = largest_nearby(changed[0], d, d - 2 < dilations.size() ? dilations[d - 2] : 1);
  for (Tensor& t : changed)
    if (is_wide(t)) t = map_elements<double>(t, [](double x) { return std::abs(x); });
  return changed;
}

}  // namespace

bool widen_for_winograd(const Trial& trial, double u, Explained& explained) {
  const std::vector<Tensor>& inputs = trial.inputs();
  if (inputs.size() < 2 || !is_wide(inputs[0]) || !is_wide(inputs[1]) || !has_tiles(trial.node(), inputs[1]))
    return false;
  const Tensor magnitude = trial.evaluate(magnitudes_nearby(trial)), y = trial.evaluate(trial.inputs());
  const auto fits = [&](const Tensor& t) { return t.defined() && t.shape() == explained.most.shape(); };
  if (!fits(magnitude) || !fits(y)) return false;
  const double *m = magnitude.data<double>(), *p = y.data<double>(), drift = std::sqrt(trial.terms() / 3);
  for (Tensor* bound : {&explained.most, &explained.possible}) {
    if (!bound->defined()) continue;
    auto* b = bound->mutable_data<double>();
    for (int64_t i = 0; i < magnitude.numel(); ++i)
      if (b[i] > 0)  // whole numbers stay exact
        b[i] = std::max(b[i], kOwnFactor * u * (drift * std::abs(p[i]) + m[i]));
  }
  return true;
}

bool widen_for_reciprocal(const Trial& trial, const Tensor& exact, double u, Explained& explained) {
  if (!is_op(trial.node(), "Div")) return false;
  for (Tensor* bound : {&explained.most, &explained.possible})
    if (bound->defined())
      *bound = map_broadcast<double>(*bound, exact, [u](double b, double y) {
        return std::isfinite(y) ? std::max(b, 2 * u * std::abs(y) * (1 + u)) : b;
      });
  return true;
}

namespace {

/// Where rounding moves no number by more than this, noisy evaluations show what becomes of it.
constexpr double kFarMoved = 0.25;

bool is_far_moved(const double* x, int64_t count, int64_t inner, double u) {
  for (int64_t i = 0; i < count; ++i)
    if (u * std::abs(x[i * inner]) > kFarMoved) return true;
  return false;
}

/// Softmax of `count` numbers, which rounding may have moved by `u` of each, when one goes up and
/// the others down (`side` 1), or the other way round (-1). Logarithms where `log`.
void softmax_end(const double* x, int64_t count, int64_t inner, double u, int side, bool log, double* y) {
  const auto moved = [&](int64_t i, int direction) {
    return x[i * inner] + direction * u * std::abs(x[i * inner]);
  };
  double most = -HUGE_VAL;
  for (int64_t i = 0; i < count; ++i) most = std::max(most, moved(i, -side));
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += std::exp(moved(i, -side) - most);
  for (int64_t i = 0; i < count; ++i) {
    const double others = std::max(sum - std::exp(moved(i, -side) - most), 0.0);
    const double beside = others == 0 ? 0 : others * std::exp(most - moved(i, side));
    y[i * inner] = log ? -std::log1p(beside) : 1 / (1 + beside);
  }
}

/// The rows of a softmax: `count` numbers, `inner` apart.
struct SoftmaxRows {
  int64_t count = 0, inner = 0;  ///< count 0: there are none

  SoftmaxRows(const Trial& trial, const Shape& shape) {
    constexpr int kAxisAlone = 13;  // before, all from the axis on was one
    const bool flat = trial.since() < kAxisAlone;
    const auto rank = static_cast<int64_t>(shape.size());
    const int64_t given = int_attribute(trial.node(), "axis", flat ? 1 : -1),
                  axis = given < 0 ? given + rank : given;
    if (axis < 0 || axis >= rank || shape.numel() == 0) return;
    const auto at = static_cast<size_t>(axis);
    count = flat ? shape.numel(at, shape.size()) : shape[at];
    inner = flat ? 1 : shape.numel(at + 1, shape.size());
  }
};

/// How far each element may lie from the exact one at that side. Undefined where no row is moved far.
Tensor room_at_side(const Tensor& x, const Tensor& exact, const SoftmaxRows& rows, double u, int side,
                    bool log) {
  Tensor end = map_elements<double>(exact, [](double y) { return y; });
  bool any = false;
  for (int64_t o = 0; o < x.numel() / (rows.count * rows.inner); ++o)
    for (int64_t i = 0; i < rows.inner; ++i) {
      const int64_t first = o * rows.count * rows.inner + i;
      const double* row = x.data<double>() + first;
      if (!is_far_moved(row, rows.count, rows.inner, u)) continue;
      any = true;
      softmax_end(row, rows.count, rows.inner, u, side, log, end.mutable_data<double>() + first);
    }
  if (!any) return {};
  return map_broadcast<double>(end, exact, [](double a, double b) { return std::abs(a - b); });
}

}  // namespace

bool widen_for_unrounded(const Trial& trial, const SuspectNode& suspect, const Tensor& exact,
                         Explained& explained) {
  const Node& n = trial.node();
  const bool log = is_op(n, "LogSoftmax");
  if ((!log && !is_op(n, "Softmax")) || trial.inputs().size() != 1) return false;
  const Value& input = *n.input(0);
  const double u = unit_roundoff(suspect.own(input).dtype());
  if (u <= unit_roundoff(DType::kFloat32) || input.producer() == nullptr) return false;
  const Tensor& x = trial.inputs()[0];
  const SoftmaxRows rows(trial, x.shape());
  if (rows.count == 0 || x.shape() != exact.shape()) return false;
  for (const int side : {-1, 1}) {
    const Tensor room = room_at_side(x, exact, rows, u, side, log);
    if (!room.defined()) return false;
    for (Tensor* bound : {&explained.most, &explained.possible})
      if (bound->defined())
        *bound = map_broadcast<double>(*bound, room,
                                       [](double b, double r) { return std::isfinite(r) ? b + r : b; });
  }
  return true;
}

}  // namespace assay
