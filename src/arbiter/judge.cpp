#include "arbiter/judge.h"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "arbiter/arithmetic.h"
#include "arbiter/float_range.h"
#include "arbiter/integers.h"
#include "arbiter/within_bounds.h"
#include "ops/eval_util.h"
#include "tensor/convert.h"

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

/// Where one of both is no number. An exact value that the type cannot hold, given what rounding may add to
/// it, may be infinite. So may be, with that sign, what evaluations in the type make infinite, and anything
/// but a number is what they make no number. Where they have a number, another one may be right, too.
Special judge_special(double result, double exact, double explained, const OtherResults& others, int64_t i) {
  if (result == exact || (std::isnan(exact) && std::isnan(result))) return Special::kRight;
  const unsigned seen = others.at(i);
  if (std::isinf(result)) {
    const bool beyond = std::isfinite(exact) && std::signbit(result) == std::signbit(exact) &&
                        std::abs(exact) + (std::isfinite(explained) ? explained : 0) >= others.largest;
    const unsigned same = result > 0 ? kPlusInfinity : kMinusInfinity;
    if (beyond || (seen & (same | kNotANumber)) != 0)
      return std::isfinite(exact) ? Special::kOverflow : Special::kRight;
  } else if (std::isnan(result)) {
    if ((seen & kNotANumber) != 0) return Special::kRight;
  } else if (others.is_another(result, i)) {
    return Special::kRight;
  }
  if (std::isinf(explained) && (seen & kUntold) == 0) return Special::kRight;
  const bool in_range = !std::isfinite(exact) || std::abs(exact) < others.largest;
  return (seen & kNumber) != 0 && in_range ? Special::kUntold : Special::kWrong;
}

/// Two numbers that are farther apart than is explained, where evaluations in the type overflow or not.
bool cannot_be_told(double result, double exact, const OtherResults& others, int64_t i) {
  const unsigned seen = others.at(i);
  return (seen & (kNumber | kUntold)) != 0 && std::isfinite(result) && std::abs(exact) < others.largest;
}

Verdict verdict_of(const Deviation& d, const Standard& standard) {
  if (d.ratio <= 1 && d.untold > 0) return Verdict::kUnclear;
  if (d.ratio <= 1) return d.rounded ? Verdict::kAgrees : Verdict::kRounding;
  const bool by_noise = standard.basis != Basis::kNode && !standard.one_call;
  return d.ratio <= (by_noise ? kUnclearFactor : kNearFactor) ? Verdict::kUnclear : Verdict::kWrong;
}

/// How many decimal digits of the largest numbers of a result what is explained leaves to be checked.
double checked_digits(const Tensor& exact, const Explained& explained) {
  const double *y = exact.data<double>(), *e = explained.most.data<double>();
  double values = 0, errors = 0;
  for (int64_t i = 0; i < exact.numel(); ++i) {
    if (!std::isfinite(y[i]) || !std::isfinite(e[i])) continue;
    values += y[i] * y[i];
    errors += e[i] * e[i];
  }
  return values > 0 && errors > 0 ? std::max(0.0, std::log10(values / errors) / 2) : 0;
}

/// Where rounding explains a result only because it would explain nearly anything.
void doubt_few_digits(const Tensor& exact, const Explained& explained, ArbiterVerdict& out) {
  out.digits = checked_digits(exact, explained);
  if (out.verdict != Verdict::kRounding || out.digits >= kCheckedDigits) return;
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
  if (standard.basis != Basis::kNode && !standard.one_call)
    doubt_few_digits(standard.lanes[0], explained, out);
  if (explained.held.defined() && out.verdict == Verdict::kRounding) {
    Explained held = explained;
    held.most = explained.held;
    if (deviation(wide, standard.lanes[0], held, result.dtype(), standard.exact).ratio > kNearFactor) {
      out.verdict = Verdict::kCannotTell;
      out.note = fmt::format(
          "arithmetic in {} explains it, but the other results show that this backend computes in float32",
          dtype_name(result.dtype()));
    }
  }
  // Noise in float32 would be less.
  const bool noisy = standard.error == nullptr && !standard.is_recurrence &&
                     (standard.basis == Basis::kNode || standard.one_call);
  return noisy && is_narrow(result.dtype()) && d.ratio > kHeeded ? ComputedIn::kDoubtful : explained.shown;
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

Deviation deviation(const Tensor& result, const Tensor& exact, const Explained& explained, DType declared,
                    const Tensor* also_right) {
  const double u = unit_roundoff(declared);
  const FloatRange range = float_range(declared);
  const double *r = result.data<double>(), *y = exact.data<double>(), *e = explained.most.data<double>();
  const double* p = explained.possible.defined() ? explained.possible.data<double>() : nullptr;
  const bool has_other =
      also_right != nullptr && also_right->shape() == exact.shape() && is_float(also_right->dtype());
  const double* other = has_other ? also_right->data<double>() : nullptr;
  const auto is_other = [&](int64_t i) {
    if (other == nullptr) return false;
    if (!std::isfinite(r[i]) || !std::isfinite(other[i]))
      return r[i] == other[i] || (std::isnan(r[i]) && std::isnan(other[i]));
    // Far from what its inputs as they were handed out give, and next to the exact network's: it had others.
    const double unit = u * std::abs(other[i]);
    const double near = std::abs(y[i] - other[i]) > kElsewhere * unit ? kNextTo * unit : unit * (1 + u);
    return std::abs(r[i] - other[i]) <= near + range.smallest;
  };
  const OtherResults others(explained, range.largest * (1 - u));
  Deviation total;
  std::mutex mutex;
  parallel_for(exact.numel(), kElementGrain, [&](int64_t first, int64_t last) {
    Deviation d;
    for (int64_t i = first; i < last; ++i) {
      double error = std::abs(r[i] - y[i]), ratio = 0;
      if (!std::isfinite(r[i]) || !std::isfinite(y[i])) {
        const Special special = judge_special(r[i], y[i], e[i], others, i);
        d.overflows += special == Special::kOverflow;
        if (special != Special::kWrong && special != Special::kUntold) continue;
        if (is_other(i)) continue;
        d.untold += special == Special::kUntold;
        if (special == Special::kUntold) continue;
        error = ratio = HUGE_VAL;
      } else if (error > 0) {
        ratio = e[i] > 0 ? error / e[i] : HUGE_VAL;
        if (std::isinf(e[i]) && (others.at(i) & kUntold) != 0) ratio = HUGE_VAL;
        if (ratio > 1 && (is_other(i) || others.is_another(r[i], i))) continue;
        if (ratio > 1 && cannot_be_told(r[i], y[i], others, i)) {
          ++d.untold;
          continue;
        }
        if (error > u * std::abs(y[i]) * (1 + u) + range.smallest) d.rounded = false;
      }
      d.max_error = std::max(d.max_error, error);
      if (ratio > d.ratio || d.at < 0) d.ratio = ratio, d.at = i;
      d.beyond += ratio > 1;
      d.impossible = d.impossible || (p != nullptr && !(error <= p[i]));
    }
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
