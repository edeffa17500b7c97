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

/// Addends that hardly differ are rounded in the same direction for as long as the sum stays within one
/// binade: nothing cancels, and their errors add up to the worst case. They count as alike when they are as
/// near as some units in the last place of the sum. Of n addends in groups of alike ones, of n_g each, the
/// errors add up to sqrt(sum of n_g^2) of the n of the worst case, which lies between sqrt(n), when all
/// differ, and n.
constexpr double kAlike = 8;

/// Signs that alike numbers have in common, and others have not: the square of a sum of addends with such
/// signs is on average the sum over the groups of the squares of what each adds up to.
constexpr uint64_t kSigns = 16;
/// A mean of so many squares varies: groups are only seen where it is this much beyond that of single
/// addends.
constexpr double kSeen = 6;

double with_sign_of_its_like(double x, double width, uint64_t key) {
  if (x == 0 || !std::isfinite(x)) return 0;
  const double shift = static_cast<double>(mix_key(key, 0) >> 11) * 0x1p-53;  // where groups end
  const double like = std::floor(std::log(std::abs(x)) / width + shift);
  const uint64_t bits = mix_key(key, std::bit_cast<uint64_t>(like) ^ static_cast<uint64_t>(x < 0));
  return (bits & 1) != 0 ? std::abs(x) : -std::abs(x);
}

/// Of the addends of each element of a plain sum or mean: their number, the sum of their magnitudes, and that
/// of their squares. Empty for other operators.
struct Addends {
  double count = 0;
  std::vector<double> sum, squares;
};

Addends addends_of(const Trial& trial, const Shape& shape) {
  const Numerics& numerics = trial.op().numerics;
  if (numerics.kind != Numerics::Kind::kAccumulating || numerics.magnitude != nullptr) return {};
  const Tensor sum = trial.with_floats([](double x) { return std::abs(x); });
  const Tensor squares = trial.with_floats([](double x) { return x * x; });
  const Tensor ones = trial.with_floats([](double) { return 1.0; });
  for (const Tensor& t : {sum, squares, ones})
    if (!t.defined() || t.dtype() != DType::kFloat64 || t.shape() != shape) return {};
  Addends found{.count = trial.terms(), .sum = {}, .squares = {}};
  const auto m = sum.span<double>(), s = squares.span<double>(), one = ones.span<double>();
  found.sum.assign(m.begin(), m.end());
  // A mean has its factor once in what was computed of the squares.
  for (size_t i = 0; i < s.size(); ++i) found.squares.push_back(s[i] * one[i] / found.count);
  return found;
}

/// For each element of the result the share of the worst case to which the errors of alike addends add up;
/// empty where that cannot be told.
std::vector<double> shares_of_alike(const Trial& trial, double width, const Shape& shape) {
  const Addends addends = addends_of(trial, shape);
  std::vector<double> shares(addends.sum.size());
  if (shares.empty()) return {};
  for (uint64_t k = 1; k <= kSigns; ++k) {
    const Tensor signed_sum = trial.with_floats([=](double x) { return with_sign_of_its_like(x, width, k); });
    if (!signed_sum.defined() || signed_sum.dtype() != DType::kFloat64 || signed_sum.shape() != shape)
      return {};
    const auto s = signed_sum.span<double>();
    for (size_t i = 0; i < s.size(); ++i) shares[i] += s[i] * s[i] / static_cast<double>(kSigns);
  }
  for (size_t i = 0; i < shares.size(); ++i)
    shares[i] = shares[i] > kSeen * addends.squares[i] ? std::sqrt(shares[i]) / addends.sum[i] : 0;
  return shares;
}

/// The same of operators that are no plain sums of an input, from their magnitudes: those of the addends, of
/// their squares and of ones tell how much the addends vary. Beyond what counts as alike the share falls with
/// the square of that. `magnitude` may be null: the operator itself.
std::vector<double> shares_by_variation(const Trial& trial, double width, const Shape& shape,
                                        void (*magnitude)(EvalContext&)) {
  const Tensor sum = trial.with_floats([](double x) { return std::abs(x); }, magnitude);
  const Tensor squares = trial.with_floats([](double x) { return x * x; }, magnitude);
  const Tensor ones = trial.with_floats([](double) { return 1.0; }, magnitude);
  for (const Tensor& t : {sum, squares, ones})
    if (!t.defined() || t.dtype() != DType::kFloat64 || t.shape() != shape) return {};
  std::vector<double> shares;
  const double *m = sum.data<double>(), *s = squares.data<double>(), *c = ones.data<double>();
  for (int64_t i = 0; i < sum.numel(); ++i) {
    const double variation = std::max(s[i] * c[i] / (m[i] * m[i]) - 1, 0.0);  // squared
    shares.push_back(std::isfinite(variation) ? width * width / std::max(variation, 1e-300) : 0);
  }
  return shares;
}

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

}  // namespace

void widen_for_uneven(const Trial& trial, double u, Explained& explained) {
  if (u > unit_roundoff(DType::kFloat32)) return;  // nobody adds up in a narrow type where it matters
  const Addends addends = addends_of(trial, explained.most.shape());
  if (addends.squares.empty()) return;
  auto* most = explained.most.mutable_data<double>();
  const double drift = std::sqrt(addends.count / 3), walk = addends.count / 6;
  const Tensor y = trial.evaluate(trial.inputs());
  if (!y.defined() || y.shape() != explained.most.shape()) return;
  const double* p = y.data<double>();
  const double* possible = explained.possible.defined() ? explained.possible.data<double>() : nullptr;
  for (size_t i = 0; i < addends.squares.size(); ++i) {
    const double expected = kOwnFactor * u * (drift * std::abs(p[i]) + std::sqrt(walk * addends.squares[i]));
    if (!std::isfinite(expected)) continue;
    most[i] = std::max(most[i], possible != nullptr ? std::min(expected, possible[i]) : expected);
  }
}

void widen_for_alike(const Trial& trial, double u, Explained& explained) {
  const Numerics& numerics = trial.op().numerics;
  if (u > unit_roundoff(DType::kFloat32)) return;  // nobody adds up in a narrow type where it matters
  if (numerics.kind != Numerics::Kind::kAccumulating || !explained.possible.defined()) return;
  const Shape& shape = explained.most.shape();
  const double width = kAlike * u * trial.terms();
  // Products are alike where both factors are, which is rare and dear to look for.
  const auto& inputs = trial.inputs();
  const bool adds_inputs =
      numerics.magnitude == nullptr && std::count_if(inputs.begin(), inputs.end(), [](const Tensor& t) {
                                         return t.defined() && t.dtype() == DType::kFloat64;
                                       }) == 1;
  const std::vector<double> shares = adds_inputs
                                         ? shares_of_alike(trial, width, shape)
                                         : shares_by_variation(trial, width, shape, numerics.magnitude);
  auto* most = explained.most.mutable_data<double>();
  const double* possible = explained.possible.data<double>();
  for (size_t i = 0; i < shares.size(); ++i)
    if (std::isfinite(shares[i])) most[i] = std::max(most[i], std::min(1.0, shares[i]) * possible[i]);
}

bool widen_for_winograd(const Trial& trial, double u, Explained& explained) {
  const std::vector<Tensor>& inputs = trial.inputs();
  if (inputs.size() < 2 || inputs[0].dtype() != DType::kFloat64 || inputs[1].dtype() != DType::kFloat64 ||
      !has_tiles(trial.node(), inputs[1]))
    return false;
  std::vector<Tensor> changed = inputs;
  // Tiles of 4x4 results hold numbers up to three beside a result's window, those of 2x2 one.
  const int reach = inputs[1].dim(1) >= kernels::kWinogradLargeTileChannels ? 3 : 1;
  const std::vector<int64_t> dilations = ints_attribute(trial.node(), "dilations");
  for (size_t d = 2; d < changed[0].shape().size(); ++d)
    for (int i = 0; inputs[1].dim(d) > 1 && i < reach; ++i)
      changed[0] = largest_nearby(changed[0], d, d - 2 < dilations.size() ? dilations[d - 2] : 1);
  for (Tensor& t : changed)
    if (t.defined() && t.dtype() == DType::kFloat64)
      t = map_elements<double>(t, [](double x) { return std::abs(x); });
  const Tensor magnitude = trial.evaluate(std::move(changed));
  if (!magnitude.defined() || magnitude.shape() != explained.most.shape()) return false;
  const Tensor y = trial.evaluate(trial.inputs());
  if (!y.defined() || y.shape() != explained.most.shape()) return false;
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

bool widen_for_dequantised(const Trial& trial, const SuspectNode& suspect, double u, Explained& explained) {
  if (trial.op().numerics.kind != Numerics::Kind::kAccumulating || trial.op().numerics.magnitude != nullptr)
    return false;
  std::vector<Tensor> parts = trial.inputs();
  bool any = false;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!parts[i].defined() || parts[i].dtype() != DType::kFloat64) continue;
    parts[i] = map_elements<double>(parts[i], [](double x) { return std::abs(x); });
    const Node* from = suspect.node.input(i)->producer();
    if (from == nullptr || !is_op(*from, "DequantizeLinear") || from->input(2) == nullptr) continue;
    const Tensor scale = suspect.own(*from->input(1)), zero = suspect.own(*from->input(2));
    if (!scale.defined() || !zero.defined() || scale.numel() != 1 || zero.numel() != 1) continue;
    const double offset =
        std::abs(to_float64(scale).data<double>()[0] * convert(zero, DType::kFloat64).data<double>()[0]);
    parts[i] = map_elements<double>(parts[i], [offset](double x) { return x + 2 * offset; });
    any = any || offset > 0;
  }
  if (!any) return false;
  const Tensor magnitude = trial.evaluate(std::move(parts));
  if (!magnitude.defined() || magnitude.shape() != explained.most.shape()) return false;
  for (Tensor* bound : {&explained.most, &explained.possible})
    if (bound->defined())
      *bound = map_broadcast<double>(
          *bound, magnitude, [u](double b, double m) { return std::isfinite(m) ? b + 2 * u * m : b; });
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
  constexpr int kAxisAlone = 13;  // before, all from the axis on was one
  const bool flat = trial.since() < kAxisAlone;
  const auto rank = static_cast<int64_t>(x.shape().size());
  const int64_t given = int_attribute(n, "axis", flat ? 1 : -1), axis = given < 0 ? given + rank : given;
  if (axis < 0 || axis >= rank || x.numel() == 0 || x.shape() != exact.shape()) return false;
  const auto at = static_cast<size_t>(axis);
  const int64_t count = flat ? x.shape().numel(at, x.shape().size()) : x.dim(at),
                inner = flat ? 1 : x.shape().numel(at + 1, x.shape().size());
  bool any = false;
  for (const int side : {-1, 1}) {
    Tensor end = map_elements<double>(exact, [](double y) { return y; });
    for (int64_t o = 0; o < x.numel() / (count * inner); ++o)
      for (int64_t i = 0; i < inner; ++i) {
        const int64_t first = o * count * inner + i;
        if (!is_far_moved(x.data<double>() + first, count, inner, u)) continue;
        any = true;
        softmax_end(x.data<double>() + first, count, inner, u, side, log, end.mutable_data<double>() + first);
      }
    if (!any) return false;
    const Tensor room = map_broadcast<double>(end, exact, [](double a, double b) { return std::abs(a - b); });
    for (Tensor* bound : {&explained.most, &explained.possible})
      if (bound->defined())
        *bound = map_broadcast<double>(*bound, room,
                                       [](double b, double r) { return std::isfinite(r) ? b + r : b; });
  }
  return true;
}

}  // namespace assay
