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
}

/// Where one of both is not finite: equal specials are right, and anything is where the noisy evaluations
/// have both numbers and specials. An exact value that the type cannot hold, given what rounding may add to
/// it, may be infinite.
bool same_special(double result, double exact, double explained, double largest, Deviation& d) {
  if (result == exact || (std::isnan(exact) && std::isnan(result)) || std::isinf(explained)) return true;
  const bool overflow = std::isinf(result) && std::isfinite(exact) &&
                        std::signbit(result) == std::signbit(exact) && std::abs(exact) + explained >= largest;
  d.overflows += overflow;
  return overflow;
}

Verdict verdict_of(const Deviation& d, const Standard& standard) {
  if (d.ratio <= 1) return d.rounded ? Verdict::kAgrees : Verdict::kRounding;
  return standard.basis != Basis::kNode && !standard.one_call && d.ratio <= kUnclearFactor ? Verdict::kUnclear
                                                                                           : Verdict::kWrong;
}

/// Of the whole result.
void set_sizes(const Deviation& d, ArbiterVerdict& out) {
  out.own_error = d.max_error;
  out.worst_ratio = d.ratio;
  out.worst_at = d.at;
  out.beyond = d.beyond;
  out.overflows = d.overflows;
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

Explained explained_for(const Tensor& result, const Standard& standard, DType dtype) {
  Explained explained =
      standard.error != nullptr
          ? explained_by_node(standard.lanes, *standard.error, dtype, standard.keeps_numbers)
          : explained_by_spread(standard.lanes, dtype, kExplainedFactor);
  if (standard.error != nullptr || standard.is_recurrence)
    hold_to_arithmetic(result, standard, dtype, explained);
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
  Deviation total;
  std::mutex mutex;
  parallel_for(exact.numel(), kElementGrain, [&](int64_t first, int64_t last) {
    Deviation d;
    for (int64_t i = first; i < last; ++i) {
      double error = std::abs(r[i] - y[i]), ratio = 0;
      if (!std::isfinite(r[i]) || !std::isfinite(y[i])) {
        if (same_special(r[i], y[i], e[i], range.largest * (1 - u), d) || is_other(i)) continue;
        error = ratio = HUGE_VAL;
      } else if (error > 0) {
        ratio = e[i] > 0 ? error / e[i] : HUGE_VAL;
        if (ratio > 1 && is_other(i)) continue;
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
    if (is_one_of(result, lanes)) {
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
    judge_integers(result.load(), lanes, standard.exact, out);
  }
  return ComputedIn::kUnknown;
}

}  // namespace assay
