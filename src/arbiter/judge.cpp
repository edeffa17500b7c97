#include "arbiter/judge.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <mutex>

#include "arbiter/arithmetic.h"
#include "arbiter/common_factor.h"
#include "arbiter/integers.h"
#include "arbiter/within_bounds.h"
#include "ops/eval_util.h"
#include "tensor/convert.h"
#include "tensor/float_range.h"

namespace assay {
namespace {

/// In units of rounding: what lies next to a number, and what surely does not.
constexpr double kNextTo = 4, kElsewhere = 64;
/// A healthy result is usually below this share of what noisy evaluations in its type explain.
constexpr double kHeeded = 0.1;

bool is_narrow(DType t) { return unit_roundoff(t) > unit_roundoff(DType::kFloat32); }

void merge(Deviation& into, const Deviation& d) {
  into.max_error = std::max(into.max_error, d.max_error);
  // The first of equal ones, however the elements were shared out.
  if (d.at >= 0 && (into.at < 0 || d.ratio > into.ratio || (d.ratio == into.ratio && d.at < into.at)))
    into.ratio = d.ratio, into.at = d.at;
  into.rounded = into.rounded && d.rounded;
  into.impossible = into.impossible || d.impossible;
  into.beyond += d.beyond;
  into.overflows += d.overflows;
  into.untold += d.untold;
}

/// What is explained of each element, beside how far it may lie from the exact value.
struct OtherResults {
  OtherResults(const Explained& e, double largest_number)
      : bits(e.others.defined() ? e.others.data<double>() : nullptr),
        another(e.another.defined() ? e.another.data<double>() : nullptr),
        room(e.another.defined() ? e.room.data<double>() : nullptr),
        largest(largest_number) {}
  unsigned at(int64_t i) const { return bits == nullptr ? 0 : static_cast<unsigned>(bits[i]); }
  bool is_another(double result, int64_t i) const {
    return another != nullptr && std::abs(result - another[i]) <= room[i];
  }
  const double *bits, *another, *room;
  double largest;
};

enum class Special : uint8_t { kRight, kOverflow, kUntold, kWrong };

/// An infinite result: what the type cannot hold, or what some evaluations have.
bool may_be_infinite(double result, double exact, double explained, const OtherResults& others,
                     unsigned seen) {
  const bool beyond = std::isfinite(exact) && std::signbit(result) == std::signbit(exact) &&
                      std::abs(exact) + (std::isfinite(explained) ? explained : 0) >= others.largest;
  const unsigned same = result > 0 ? kPlusInfinity : kMinusInfinity;
  return beyond || (seen & (same | kNotANumber)) != 0;
}

/// Where one of both is no number. An exact value that the type cannot hold, given what rounding may add to
/// it, may be infinite. So may be, with that sign, what evaluations in the type make infinite, and anything
/// but a number is what they make no number. Where they have a number, another one may be right, too.
Special judge_special(double result, double exact, double explained, const OtherResults& others, int64_t i) {
  if (result == exact || (std::isnan(exact) && std::isnan(result))) return Special::kRight;
  const unsigned seen = others.at(i);
  if (std::isinf(result) && may_be_infinite(result, exact, explained, others, seen))
    return std::isfinite(exact) ? Special::kOverflow : Special::kRight;
  if (std::isnan(result) ? (seen & kNotANumber) != 0 : std::isfinite(result) && others.is_another(result, i))
    return Special::kRight;
  if (std::isinf(explained) && (seen & kUntold) == 0) return Special::kRight;
  const bool in_range = !std::isfinite(exact) || std::abs(exact) < others.largest;
  return (seen & kNumber) != 0 && in_range ? Special::kUntold : Special::kWrong;
}

/// Two numbers that are farther apart than is explained, where evaluations in the type overflow or not.
bool cannot_be_told(double result, double exact, const OtherResults& others, int64_t i) {
  const unsigned seen = others.at(i);
  return (seen & (kNumber | kUntold)) != 0 && std::isfinite(result) && std::abs(exact) < others.largest;
}

/// Of one node, or of one call of a function, on its own inputs.
bool is_node(const Standard& standard) { return standard.basis == Basis::kNode || standard.one_call; }

Verdict verdict_of(const Deviation& d, const Standard& standard) {
  if (d.ratio <= 1 && d.untold > 0) return Verdict::kUnclear;
  if (d.ratio <= 1) return d.rounded ? Verdict::kAgrees : Verdict::kRounding;
  return d.ratio <= (!is_node(standard) ? kUnclearFactor : kNearFactor) ? Verdict::kUnclear : Verdict::kWrong;
}

/// How many decimal digits of the largest numbers of a result errors of such sizes leave.
double digits_left(const Tensor& exact, const std::function<double(int64_t)>& error_of) {
  const double* y = exact.data<double>();
  double values = 0, errors = 0;
  for (int64_t i = 0; i < exact.numel(); ++i) {
    const double e = error_of(i);
    if (!std::isfinite(y[i]) || !std::isfinite(e)) continue;
    values += y[i] * y[i];
    errors += e * e;
  }
  constexpr double kAll = 17;
  if (errors == 0) return kAll;
  return values > 0 ? std::clamp(std::log10(values / errors) / 2, 0.0, kAll) : 0;
}

/// Digits more than have to be checked, by which a result that has them shows itself that it is right:
/// nothing that moves it visibly is in it, however much would have been explained.
constexpr double kDigitsThatShow = 2;

/// Where rounding explains a result only because it would explain nearly anything.
void doubt_few_digits(const Tensor& result, const Tensor& exact, const Explained& explained,
                      ArbiterVerdict& out) {
  const double *r = result.data<double>(), *y = exact.data<double>(), *most = explained.most.data<double>();
  out.digits = digits_left(exact, [&](int64_t i) { return most[i]; });
  if (out.verdict != Verdict::kRounding || out.digits >= kCheckedDigits) return;
  if (digits_left(exact, [&](int64_t i) { return r[i] - y[i]; }) >= kCheckedDigits + kDigitsThatShow) return;
  out.verdict = Verdict::kCannotTell;
  out.note = fmt::format(
      "rounding explains it, but on the way from the network's inputs it would explain an error of {:.2g} % "
      "of the result, too: {:.1f} digit(s) are checked",
      100 * std::pow(10, -out.digits), out.digits);
}

/// Of the whole result.
void set_sizes(const Deviation& d, ArbiterVerdict& out) {
  out.own_error = d.max_error;
  out.worst_ratio = d.ratio;
  out.worst_at = d.at;
  out.beyond = d.beyond;
  out.overflows = d.overflows;
  out.untold = d.untold;
  out.certain = out.verdict == Verdict::kWrong && d.impossible;
}

/// Of the worst element.
void set_place(double result, double exact, double explained, ArbiterVerdict& out) {
  out.worst_exact = exact;
  out.worst_result = result;
  out.worst_error = std::isfinite(result) && std::isfinite(exact) ? std::abs(result - exact) : HUGE_VAL;
  out.worst_explained = explained;
}

/// Up to so many times what is explained it may have been rounded once more.
constexpr double kFewRoundings = 2;

/// Each element of a result in a narrow type may be off by one rounding: not all of them by the same.
void hold_to_factor(const Tensor& result, const Standard& standard, ArbiterVerdict& out) {
  if (out.verdict != Verdict::kRounding && out.verdict != Verdict::kUnclear) return;
  const std::optional<CommonFactor> f =
      unexplained_factor(result, standard.lanes, standard.offset, out.dtype);
  if (!f) return;
  out.verdict = f->ratio() <= kFewRoundings ? Verdict::kUnclear : Verdict::kWrong;
  out.beyond = out.verdict == Verdict::kWrong ? f->count : 0;
  out.note = fmt::format(
      "{} are off by {:.2g} % together, of which the rounding to {} explains {:.2g} %: roundings differ from "
      "element to element",
      f->count == out.elements ? std::string("all elements")
                               : fmt::format("{} elements from {} on", f->count, f->first),
      100 * f->factor, dtype_name(out.dtype), 100 * f->explained);
}

/// Where only arithmetic in the narrow type explains a result. Nearly nobody adds up in it, so where it
/// explains nearly anything, or the runner's other results show that it does not, that says nothing.
void doubt_narrow_arithmetic(const Tensor& result, const Standard& standard, const Explained& explained,
                             ArbiterVerdict& out) {
  if (!explained.held.defined() || out.verdict != Verdict::kRounding) return;
  Explained held = explained;
  held.most = explained.held;
  const Tensor& exact = standard.lanes[0];
  if (deviation(result, exact, held, out.dtype, standard.exact).ratio <= kNearFactor) return;
  const double *most = explained.most.data<double>(),
               digits = digits_left(exact, [&](int64_t i) { return most[i]; });
  if (standard.computes_wider) {
    out.note = fmt::format(
        "arithmetic in {} explains it, but the other results show that this backend computes in float32",
        dtype_name(out.dtype));
  } else if (digits < kCheckedDigits) {
    out.digits = digits;
    out.note = fmt::format(
        "arithmetic in {} explains it, but would explain an error of {:.2g} % of the result, too, and "
        "float32 "
        "does not: {:.1f} digit(s) are checked",
        dtype_name(out.dtype), 100 * std::pow(10, -digits), digits);
  } else {
    return;
  }
  out.verdict = Verdict::kCannotTell;
}

/// What a result shows of the arithmetic, where it has such a deviation.
ComputedIn shown_by(const Deviation& d, const Standard& standard, const Explained& explained, DType dtype) {
  // Noise in float32 would be less.
  const bool noisy = standard.error == nullptr && !standard.is_recurrence && is_node(standard);
  return noisy && is_narrow(dtype) && d.ratio > kHeeded ? ComputedIn::kDoubtful : explained.shown;
}

ComputedIn judge_floats(const Tensor& result, const Standard& standard, ArbiterVerdict& out) {
  if (const std::optional<WithinBounds> within = within_bounds(result, standard)) {
    const Deviation& d = within->deviation;
    out.verdict = verdict_of(d, standard);
    set_sizes(d, out);
    if (d.at >= 0) set_place(within->result, within->exact, within->explained, out);
    return ComputedIn::kUnknown;
  }
  const Tensor wide = to_float64(result);
  const Explained explained = explained_for(wide, standard, result.dtype());
  const Deviation d = deviation(wide, standard.lanes[0], explained, result.dtype(), standard.exact);
  out.verdict = verdict_of(d, standard);
  set_worst(d, wide, standard.lanes[0], explained, out);
  if (!is_node(standard)) doubt_few_digits(wide, standard.lanes[0], explained, out);
  doubt_narrow_arithmetic(wide, standard, explained, out);
  if (standard.basis == Basis::kNode && explained.computed_wider) hold_to_factor(wide, standard, out);
  return shown_by(d, standard, explained, result.dtype());
}

/// Whether it is, to the bit, what one of the lanes has: integers, truths and texts, of which there is no
/// spread where shapes differ.
bool is_one_of(const StoredTensor& result, std::span<const Tensor> lanes) {
  return std::ranges::any_of(lanes, [&](const Tensor& lane) {
    return !is_float(lane.dtype()) && lane.dtype() == result.dtype() && lane.shape() == result.shape() &&
           lane.identical(result.load());
  });
}

}  // namespace

namespace {

/// A number below the normal ones may be flushed to zero, or is kept: of what moves numbers, or rounds once,
/// nothing lies in between. Sums may lose some of their terms, and functions are made of several operations.
void hold_subnormals(const Tensor& result, const Tensor& exact, const NodeError& error, DType dtype,
                     Explained& explained) {
  constexpr double kOnce = 1.5;
  const FloatRange range = float_range(dtype);
  const double u = unit_roundoff(dtype);
  if (error.operations > 1 || (error.worst.defined() && error.worst.shape() != exact.shape())) return;
  const double *r = result.data<double>(), *y = exact.data<double>();
  const double* worst = error.worst.defined() ? error.worst.data<double>() : nullptr;
  double* most = nullptr;
  for (int64_t i = 0; i < exact.numel(); ++i) {
    const double size = std::abs(y[i]);
    if (!(size > 0 && size < range.normal) || r[i] == 0) continue;
    if (worst != nullptr && worst[i] > kOnce * u * size) continue;
    const double room = worst == nullptr ? 0 : kKeptUnits * range.smallest;
    if (most == nullptr) {
      explained.most = map_elements<double>(explained.most, [](double e) { return e; });
      most = explained.most.mutable_data<double>();
    }
    most[i] = std::min(most[i], room);
  }
}

}  // namespace

Explained explained_for(const Tensor& result, const Standard& standard, DType dtype) {
  Explained explained =
      standard.error != nullptr
          ? explained_by_node(standard.lanes, *standard.error, dtype, standard.keeps_numbers, standard.reach)
          : explained_by_spread(standard.lanes, dtype,
                                standard.noisy_levels ? kLevelFactor : kExplainedFactor, standard.step);
  if (standard.error != nullptr || standard.is_recurrence)
    hold_to_arithmetic(result, standard, dtype, explained);
  if (standard.error != nullptr && (dtype == DType::kFloat32 || dtype == DType::kFloat64))
    hold_subnormals(result, standard.lanes[0], *standard.error, dtype, explained);
  return explained;
}

namespace {

/// One element after the other of a result in a type.
class ElementJudge {
 public:
  ElementJudge(const Tensor& result, const Tensor& exact, const Explained& explained, DType declared,
               const Tensor* also_right)
      : u_(unit_roundoff(declared)),
        range_(float_range(declared)),
        result_(result.data<double>()),
        exact_(exact.data<double>()),
        explained_(explained.most.data<double>()),
        possible_(explained.possible.defined() ? explained.possible.data<double>() : nullptr),
        others_(explained, range_.largest * (1 - u_)) {
    if (also_right != nullptr && also_right->shape() == exact.shape() && is_float(also_right->dtype()))
      also_right_ = also_right->data<double>();
  }

  void add(int64_t i, Deviation& d) const {
    const bool are_numbers = std::isfinite(result_[i]) && std::isfinite(exact_[i]);
    double error = std::abs(result_[i] - exact_[i]), ratio = 0;
    if (!are_numbers) {
      if (is_right_special(i, d)) return;
      error = ratio = HUGE_VAL;
    } else if (error > 0) {
      ratio = ratio_of(error, i);
      if (ratio > 1 && is_right_otherwise(i, d)) return;
      if (error > u_ * std::abs(exact_[i]) * (1 + u_) + range_.smallest) d.rounded = false;
    }
    d.max_error = std::max(d.max_error, error);
    if (ratio > d.ratio || d.at < 0) d.ratio = ratio, d.at = i;
    d.beyond += ratio > 1;
    d.impossible = d.impossible || (possible_ != nullptr && !(error <= possible_[i]));
  }

 private:
  /// Whether it is what the exact network has. Far from what its inputs as they were handed out give, and
  /// next to the exact network's: it had others.
  bool is_also_right(int64_t i) const {
    if (also_right_ == nullptr) return false;
    const double r = result_[i], other = also_right_[i];
    if (!std::isfinite(r) || !std::isfinite(other)) return r == other || (std::isnan(r) && std::isnan(other));
    const double unit = u_ * std::abs(other);
    const double near = std::abs(exact_[i] - other) > kElsewhere * unit ? kNextTo * unit : unit * (1 + u_);
    return std::abs(r - other) <= near + range_.smallest;
  }
  /// Of what is no number, in the result or exactly: whether it counts as no error.
  bool is_right_special(int64_t i, Deviation& d) const {
    const Special special = judge_special(result_[i], exact_[i], explained_[i], others_, i);
    d.overflows += special == Special::kOverflow;
    if (special == Special::kRight || special == Special::kOverflow || is_also_right(i)) return true;
    d.untold += special == Special::kUntold;
    return special == Special::kUntold;
  }
  double ratio_of(double error, int64_t i) const {
    if (std::isinf(explained_[i]) && (others_.at(i) & kUntold) != 0) return HUGE_VAL;
    return explained_[i] > 0 ? error / explained_[i] : HUGE_VAL;
  }
  /// Of a number beyond what is explained.
  bool is_right_otherwise(int64_t i, Deviation& d) const {
    if (is_also_right(i) || others_.is_another(result_[i], i)) return true;
    const bool untold = cannot_be_told(result_[i], exact_[i], others_, i);
    d.untold += untold;
    return untold;
  }

  double u_;
  FloatRange range_;
  const double *result_, *exact_, *explained_, *possible_;
  const double* also_right_ = nullptr;
  OtherResults others_;
};

}  // namespace

Deviation deviation(const Tensor& result, const Tensor& exact, const Explained& explained, DType declared,
                    const Tensor* also_right) {
  const ElementJudge judge(result, exact, explained, declared, also_right);
  Deviation total;
  std::mutex mutex;
  parallel_for(exact.numel(), kElementGrain, [&](int64_t first, int64_t last) {
    Deviation d;
    for (int64_t i = first; i < last; ++i) judge.add(i, d);
    if (std::isinf(d.max_error)) d.rounded = false;
    const std::lock_guard lock(mutex);
    merge(total, d);
  });
  return total;
}

void set_worst(const Deviation& d, const Tensor& result, const Tensor& exact, const Explained& explained,
               ArbiterVerdict& out) {
  set_sizes(d, out);
  if (d.at >= 0)
    set_place(result.data<double>()[d.at], exact.data<double>()[d.at], explained.most.data<double>()[d.at],
              out);
}

ComputedIn judge_result(const StoredTensor& result, const Standard& standard, ArbiterVerdict& out) {
  const std::span<const Tensor> lanes = standard.lanes;
  const Tensor& exact = lanes[0];
  out.dtype = result.dtype();
  out.shape = result.shape();
  out.elements = result.numel();
  out.basis = standard.basis;
  const bool comparable =
      std::all_of(lanes.begin(), lanes.end(), [&](const Tensor& t) { return t.shape() == exact.shape(); });
  // The lanes hold floats as float64; what is declared no type is as good in any.
  const DType expected = is_float(exact.dtype()) ? standard.declared : exact.dtype();
  const auto wrong = [&](std::string problem) {
    out.verdict = Verdict::kWrong;
    out.certain = true;
    out.problem = std::move(problem);
    out.beyond = out.elements;
  };
  if (expected == DType::kUndefined ? !is_float(result.dtype()) : result.dtype() != expected) {
    wrong(fmt::format("its type is {}, not {}", dtype_name(result.dtype()),
                      expected == DType::kUndefined ? "a floating one" : dtype_name(expected)));
  } else if (result.shape().size() != exact.shape().size() ||
             (comparable && result.shape() != exact.shape())) {
    wrong(fmt::format("its shape is {}, not {}", result.shape().str(), exact.shape().str()));
  } else if (!comparable || result.shape() != exact.shape()) {
    if (standard.excuses.allows(Excuse::kDecidedShape) && is_one_of(result, lanes)) {
      excused_by(Excuse::kDecidedShape, out);
      out.note = "rounding decides its shape, and this is what an evaluation with that shape gives";
      return ComputedIn::kUnknown;
    }
    out.verdict = Verdict::kUnclear;
    out.problem = fmt::format(
        "rounding decides its shape, which is {} in exact arithmetic and {} here; its values cannot be "
        "judged",
        exact.shape().str(), result.shape().str());
  } else if (is_float(exact.dtype())) {
    return judge_floats(result.load(), standard, out);
  } else {
    judge_integers(result.load(), standard, out);
  }
  return ComputedIn::kUnknown;
}

}  // namespace assay
