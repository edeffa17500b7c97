#include "arbiter/excuses.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "arbiter/float_range.h"
#include "graph/read.h"
#include "ops/check.h"
#include "ops/eval_util.h"
#include "ops/numerics/noise.h"
#include "reference/evaluate.h"
#include "reference/quantisation_scale.h"
#include "tensor/convert.h"

namespace assay {
namespace {

/// A node to be evaluated again and again on changed inputs.
class Trial {
 public:
  explicit Trial(const SuspectNode& suspect) : suspect_(suspect), op_(bind_op(suspect.node, suspect.model)) {
    if (!op_ || has_subgraph(suspect.node)) return;
    for (const Value* v : suspect.node.inputs()) {
      if (v == nullptr) {
        inputs_.emplace_back();
        continue;
      }
      const Tensor own = suspect.own(*v);
      if (!own.defined() || own.is_container()) return;
      inputs_.push_back(op_.op->types == EvalTypes::kFloat64 && is_float(own.dtype()) ? to_float64(own)
                                                                                      : own);
    }
    const auto& outputs = suspect.node.outputs();
    output_ =
        static_cast<size_t>(std::find(outputs.begin(), outputs.end(), &suspect.output) - outputs.begin());
    usable_ = true;
  }

  bool usable() const { return usable_; }
  const std::vector<Tensor>& inputs() const { return inputs_; }
  const OpDef& op() const { return *op_.op; }
  /// Undefined when it cannot be evaluated on these.
  Tensor evaluate(std::vector<Tensor> inputs, void (*eval)(EvalContext&) = nullptr) const {
    try {
      EvalContext c(suspect_.node, *op_.op, *op_.version, std::move(inputs));
      c.ideal = true;
      (eval != nullptr ? eval : op_.version->eval)(c);
      return c.outputs().at(output_);
    } catch (const Error&) {
      return {};
    }
  }
  /// With f applied to every floating input.
  template <typename F>
  Tensor with_floats(F f, void (*eval)(EvalContext&) = nullptr) const {
    std::vector<Tensor> changed = inputs_;
    for (Tensor& t : changed)
      if (t.defined() && t.dtype() == DType::kFloat64) t = map_elements<double>(t, f);
    return evaluate(std::move(changed), eval);
  }
  double terms() const {
    EvalContext c(suspect_.node, *op_.op, *op_.version, inputs_);
    return static_cast<double>(op_.op->numerics.terms(c));
  }

 private:
  const SuspectNode& suspect_;
  BoundOp op_;
  std::vector<Tensor> inputs_;
  size_t output_ = 0;
  bool usable_ = false;
};

/// Numbers below the smallest normal one may be taken as zero.
Tensor flushed_inputs(const Trial& trial, DType dtype) {
  const double normal = float_range(dtype).normal;
  bool any = false;
  for (const Tensor& t : trial.inputs()) {
    if (!t.defined() || t.dtype() != DType::kFloat64) continue;
    for (const double x : t.span<double>()) any = any || (x != 0 && std::abs(x) < normal);
  }
  if (!any) return {};
  return trial.with_floats([normal](double x) { return std::abs(x) < normal ? 0.0 : x; });
}

/// Addends that hardly differ are rounded in the same direction for as long as the sum stays within one binade:
/// nothing cancels, and their errors add up to the worst case. They count as alike when they are as near as some units
/// in the last place of the sum. Of n addends in groups of alike ones, of n_g each, the errors add up to
/// sqrt(sum of n_g^2) of the n of the worst case, which lies between sqrt(n), when all differ, and n.
constexpr double kAlike = 8;

/// Signs that alike numbers have in common, and others have not: the square of a sum of addends with such signs is on
/// average the sum over the groups of the squares of what each adds up to.
constexpr uint64_t kSigns = 16;
double with_sign_of_its_like(double x, double width, uint64_t key) {
  if (x == 0 || !std::isfinite(x)) return 0;
  const double shift = static_cast<double>(mix_key(key, 0) >> 11) * 0x1p-53;  // where groups end
  const double like = std::floor(std::log(std::abs(x)) / width + shift);
  const uint64_t bits = mix_key(key, std::bit_cast<uint64_t>(like) ^ static_cast<uint64_t>(x < 0));
  return (bits & 1) != 0 ? std::abs(x) : -std::abs(x);
}

/// For each element of the result the share of the worst case to which the errors of alike addends add up; empty where
/// that cannot be told.
std::vector<double> shares_of_alike(const Trial& trial, double width, const Shape& shape) {
  const auto fits = [&](const Tensor& t) {
    return t.defined() && t.dtype() == DType::kFloat64 && t.shape() == shape;
  };
  const Tensor sum = trial.with_floats([](double x) { return std::abs(x); });
  if (!fits(sum)) return {};
  std::vector<double> shares(static_cast<size_t>(sum.numel()));
  for (uint64_t k = 1; k <= kSigns; ++k) {
    const Tensor signed_sum = trial.with_floats([=](double x) { return with_sign_of_its_like(x, width, k); });
    if (!fits(signed_sum)) return {};
    const auto s = signed_sum.span<double>();
    for (size_t i = 0; i < s.size(); ++i) shares[i] += s[i] * s[i] / static_cast<double>(kSigns);
  }
  const auto m = sum.span<double>();
  for (size_t i = 0; i < shares.size(); ++i) shares[i] = std::sqrt(shares[i]) / m[i];
  return shares;
}

/// The same of operators that are no plain sums, from their magnitudes: those of the addends, of their squares and of
/// ones tell how much the addends vary. Beyond what counts as alike the share falls with the square of that.
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

void widen_for_bias(const Trial& trial, double u, const Standard& standard, Explained& explained) {
  const Numerics& numerics = trial.op().numerics;
  if (u > unit_roundoff(DType::kFloat32)) return;  // nobody adds up in a narrow type where it matters
  if (numerics.kind != Numerics::Kind::kAccumulating || !explained.possible.defined()) return;
  const Shape& shape = standard.lanes[0].shape();
  const double width = kAlike * u * trial.terms();
  const std::vector<double> shares = numerics.magnitude == nullptr
                                         ? shares_of_alike(trial, width, shape)
                                         : shares_by_variation(trial, width, shape, numerics.magnitude);
  auto* most = explained.most.mutable_data<double>();
  const double* possible = explained.possible.data<double>();
  for (size_t i = 0; i < shares.size(); ++i)
    if (std::isfinite(shares[i])) most[i] = std::max(most[i], std::min(1.0, shares[i]) * possible[i]);
}

/// Counts the elements outside of [low(i), high(i)]; none makes it rounding.
template <typename Low, typename High>
bool are_between(const StoredTensor& stored, Low low, High high, ArbiterVerdict& out) {
  const Tensor own = convert(stored.load(), DType::kFloat64);
  const double* r = own.data<double>();
  out.beyond = 0;
  for (int64_t i = own.numel(); i-- > 0;) {
    if (r[i] >= low(i) && r[i] <= high(i)) continue;
    ++out.beyond;
    out.worst_at = i;
  }
  if (out.beyond > 0) return false;
  out.verdict = Verdict::kRounding;
  out.note = "values half-way between two steps went to the other one";
  return true;
}

/// A quotient next to the middle between two steps may go to either.
bool between_steps(const SuspectNode& suspect, const Trial& trial, const StoredTensor& stored,
                   ArbiterVerdict& out) {
  const int input = quantisation_scale_input(suspect.node);
  if (input < 0 || !is_integer(stored.dtype()) || static_cast<size_t>(input) >= trial.inputs().size())
    return false;
  const Tensor& scale = trial.inputs()[static_cast<size_t>(input)];
  if (!scale.defined() || !is_float(scale.dtype())) return false;
  Tensor ends[2];
  for (int side = 0; side < 2; ++side) {
    std::vector<Tensor> changed = trial.inputs();
    const double factor = 1 + (side == 0 ? kScaleUlps : -kScaleUlps) * unit_roundoff(scale.dtype());
    changed[static_cast<size_t>(input)] = convert(
        map_elements<double>(to_float64(scale), [factor](double x) { return x * factor; }), scale.dtype());
    ends[side] = trial.evaluate(std::move(changed));
    if (!ends[side].defined() || ends[side].shape() != stored.shape()) return false;
    ends[side] = convert(ends[side], DType::kFloat64);
  }
  const double *a = ends[0].data<double>(), *b = ends[1].data<double>();
  return are_between(
      stored, [=](int64_t i) { return std::min(a[i], b[i]); },
      [=](int64_t i) { return std::max(a[i], b[i]); }, out);
}

/// A backend's scale and zero point are judged on their own; the values follow from them.
bool follows_own_scale(const SuspectNode& suspect, const Trial& trial, const StoredTensor& stored,
                       ArbiterVerdict& out) {
  const Node& n = suspect.node;
  if (n.op_type != "DynamicQuantizeLinear" || n.outputs().size() != 3) return false;
  const bool is_zero_point = n.output(2) == &suspect.output;
  const auto value = [&](size_t i) {
    const Tensor t = n.output(i) == nullptr ? Tensor() : suspect.own(*n.output(i));
    return t.defined() && t.numel() == 1 ? convert(t, DType::kFloat64).data<double>()[0] : std::nan("");
  };
  const double scale = value(1), zero = is_zero_point ? 0 : value(2);
  const Tensor wide = to_float64(trial.inputs()[0]);
  if (std::isnan(scale) || std::isnan(zero) || (!is_zero_point && wide.shape() != stored.shape()))
    return false;
  double lowest = 0;
  for (const double x : wide.span<double>()) lowest = std::min(lowest, x);
  const double* x = wide.data<double>();
  const auto step = [=](int64_t i, double side) {
    const double q = (is_zero_point ? -lowest : x[i]) / scale;
    const double moved = q + side * kScaleUlps * unit_roundoff(DType::kFloat32) * (std::abs(q) + 1);
    return std::clamp(std::nearbyint(moved) + zero, 0.0, 255.0);
  };
  return are_between(
      stored, [=](int64_t i) { return step(i, -1); }, [=](int64_t i) { return step(i, 1); }, out);
}

/// Elements that ONNX says nothing about.
bool is_out_of_range(const SuspectNode& suspect, const Trial& trial, const StoredTensor& stored,
                     ArbiterVerdict& out) {
  if (suspect.node.op_type != "Cast" || !(is_integer(stored.dtype()) || stored.dtype() == DType::kBool))
    return false;
  const Tensor& from = trial.inputs()[0];
  if (!is_float(from.dtype()) || from.shape() != stored.shape()) return false;
  const Tensor x = to_float64(from), own = convert(stored.load(), DType::kFloat64),
               y = convert(trial.evaluate(trial.inputs()), DType::kFloat64);
  const int bits = static_cast<int>(bit_width(stored.dtype()));
  const bool is_signed = is_signed_integer(stored.dtype());
  const double low = is_signed ? -std::ldexp(1, bits - 1) : 0,
               high = std::ldexp(1, is_signed ? bits - 1 : bits);
  int64_t open = 0, beyond = 0;
  for (int64_t i = own.numel(); i-- > 0;) {
    if (own.data<double>()[i] == y.data<double>()[i]) continue;
    const double value = std::trunc(x.data<double>()[i]);
    if (std::isnan(value) || value < low || value >= high) {
      ++open;
      continue;
    }
    ++beyond;
    out.worst_at = i;
  }
  if (open == 0 || beyond > 0) return false;
  out.verdict = Verdict::kOpen;
  out.note =
      fmt::format("{} element(s) are casts of numbers that {} cannot hold", open, dtype_name(stored.dtype()));
  out.beyond = 0;
  return true;
}

bool has_special(const Tensor& t, bool only_nan) {
  if (!t.defined() || t.is_container() || !is_float(t.dtype())) return false;
  const Tensor wide = to_float64(t);
  const auto x = wide.span<double>();
  return std::any_of(x.begin(), x.end(),
                     [=](double v) { return std::isnan(v) || (!only_nan && std::isinf(v)); });
}

constexpr const char* kSpecialNote =
    "its inputs hold NaN or infinities, and ONNX does not say what becomes of them";

/// Which of several NaN is the largest, whether a product with zero is left out: where the inputs are special
/// and the exact value or the result is, too, anything goes.
bool has_special_inputs(const Trial& trial, const Tensor& result, const Tensor& exact, Explained& explained) {
  const auto& inputs = trial.inputs();
  if (std::none_of(inputs.begin(), inputs.end(), [](const Tensor& t) { return has_special(t, false); }))
    return false;
  explained.most = explained.most.reshaped(exact.shape());
  auto* most = explained.most.mutable_data<double>();
  const double *r = result.data<double>(), *y = exact.data<double>();
  for (int64_t i = 0; i < exact.numel(); ++i)
    if (!std::isfinite(r[i]) || !std::isfinite(y[i])) most[i] = HUGE_VAL;
  return true;
}

}  // namespace

bool is_random(const Node& node, const Model& model) {
  const BoundOp op = bind_op(node, model);
  return op && op.op->random && node.op_type != "Dropout";
}

void excuse(const SuspectNode& suspect, const StoredTensor& stored, const Standard& standard,
            ArbiterVerdict& out) {
  if (is_random(suspect.node, suspect.model)) {
    out.verdict = Verdict::kOpen;
    out.note = "which numbers a random operator draws is the backend's choice";
    return;
  }
  if (standard.basis != Basis::kNode || stored.shape() != standard.lanes[0].shape()) return;
  const Trial trial(suspect);
  if (!trial.usable()) return;
  if (!is_float(stored.dtype())) {
    if (stored.dtype() == standard.lanes[0].dtype())
      between_steps(suspect, trial, stored, out) || follows_own_scale(suspect, trial, stored, out) ||
          is_out_of_range(suspect, trial, stored, out);
    const auto& inputs = trial.inputs();
    if (out.verdict == Verdict::kWrong && out.basis == Basis::kNode && suspect.node.op_type != "Cast" &&
        std::any_of(inputs.begin(), inputs.end(), [](const Tensor& t) { return has_special(t, true); })) {
      out.verdict = Verdict::kOpen;
      out.note = kSpecialNote;
    }
    return;
  }
  if (!out.problem.empty()) return;
  const Tensor& exact = standard.lanes[0];
  const Tensor wide = to_float64(stored.load());
  Explained explained = explained_for(wide, standard, stored.dtype());
  std::string note;
  const bool bounded = standard.error != nullptr;
  if (const Tensor flushed = bounded ? flushed_inputs(trial, stored.dtype()) : Tensor();
      flushed.defined() && flushed.shape() == exact.shape()) {
    for (Tensor* t : {&explained.most, &explained.possible}) {
      const Tensor room =
          map_broadcast<double>(flushed, exact, [](double a, double b) { return std::abs(a - b); });
      *t = map_broadcast<double>(*t, room,
                                 [](double e, double r) { return std::isfinite(r) ? e + r : HUGE_VAL; });
    }
    note = "numbers too small for normal ones were taken as zero";
  }
  if (bounded && deviation(wide, exact, explained, stored.dtype(), standard.exact).ratio > 1) {
    widen_for_bias(trial, unit_roundoff(stored.dtype()), standard, explained);
    note = "many addends are so alike that their roundings do not cancel";
  }
  Deviation d = deviation(wide, exact, explained, stored.dtype(), standard.exact);
  const bool special = d.ratio > 1 && has_special_inputs(trial, wide, exact, explained);
  if (special) {
    d = deviation(wide, exact, explained, stored.dtype(), standard.exact);
    note = kSpecialNote;
  }
  if (d.ratio > 1) return;
  out.verdict = special ? Verdict::kOpen : d.rounded ? Verdict::kAgrees : Verdict::kRounding;
  out.note = note;
  set_worst(d, wide, exact, explained, out);
}

}  // namespace assay
