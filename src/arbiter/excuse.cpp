#include "arbiter/excuse.h"

#include <algorithm>
#include <cmath>

#include "arbiter/as_one.h"
#include "arbiter/common_factor.h"
#include "arbiter/judge.h"
#include "arbiter/left_open.h"
#include "arbiter/specials.h"
#include "arbiter/sums.h"
#include "arbiter/trial.h"
#include "arbiter/unrounded.h"
#include "arbiter/widening.h"
#include "graph/read.h"
#include "ops/eval_util.h"
#include "ops/node_facts.h"
#include "reference/evaluate.h"
#include "reference/quantisation_scale.h"
#include "tensor/convert.h"
#include "tensor/float_range.h"

namespace assay {
namespace {

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

/// Of one operation that is all or nothing; a sum may lose some of its terms.
void widen_for_flushed(const Tensor& flushed, const Tensor& exact, double operations, Explained& explained) {
  const bool whole = operations <= 1 && !explained.another.defined();
  if (whole) explained.another = flushed, explained.room = explained.most;
  for (Tensor* t : {&explained.most, &explained.possible}) {
    const Tensor room = map_broadcast<double>(flushed, exact, [whole](double a, double b) {
      return whole && std::isfinite(a) ? 0 : std::abs(a - b);
    });
    *t = map_broadcast<double>(*t, room,
                               [](double e, double r) { return std::isfinite(r) ? e + r : HUGE_VAL; });
  }
}

/// As are_between(), and if so it is rounding.
template <typename Low, typename High>
bool goes_either_way(const StoredTensor& stored, Low low, High high, ArbiterVerdict& out) {
  if (!are_between(stored, low, high, out)) return false;
  out.verdict = Verdict::kRounding;
  out.note = "values half-way between two steps went to the other one";
  return true;
}

/// A quotient next to the middle between two steps may go to either.
bool between_steps(const SuspectNode& suspect, const Trial& trial, const StoredTensor& stored,
                   ArbiterVerdict& out) {
  const OpFacts& facts = facts_of(suspect.node, suspect.model);
  const int input = quantisation_scale_input(suspect.node, facts);
  if (input < 0 || !is_integer(stored.dtype()) || static_cast<size_t>(input) >= trial.inputs().size())
    return false;
  const Tensor& scale = trial.inputs()[static_cast<size_t>(input)];
  if (!scale.defined() || !is_float(scale.dtype())) return false;
  Tensor ends[2];
  for (int side = 0; side < 2; ++side) {
    std::vector<Tensor> changed = with_moved_quotient(suspect.node, facts, trial.inputs(), side == 0 ? 1 : -1,
                                                      unit_roundoff(scale.dtype()));
    for (size_t i = 0; i < changed.size(); ++i)
      if (changed[i].defined()) changed[i] = convert(changed[i], trial.inputs()[i].dtype());
    ends[side] = trial.evaluate(std::move(changed));
    if (!ends[side].defined() || ends[side].shape() != stored.shape()) return false;
    ends[side] = convert(ends[side], DType::kFloat64);
  }
  const double *a = ends[0].data<double>(), *b = ends[1].data<double>();
  return goes_either_way(
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
  return goes_either_way(
      stored, [=](int64_t i) { return step(i, -1); }, [=](int64_t i) { return step(i, 1); }, out);
}

/// Floats of the type that the model gives them; the rest of the reference's.
bool has_type_of(const StoredTensor& stored, const Standard& standard) {
  const Tensor& exact = standard.lanes[0];
  if (exact.is_container()) return false;
  const DType expected = is_float(exact.dtype()) ? standard.declared : exact.dtype();
  return expected == DType::kUndefined || stored.dtype() == expected;
}

/// Whether IEEE 754 says what it makes of NaN and infinities, or it hands them on.
bool is_defined_for_specials(const SuspectNode& suspect) {
  const OpFacts& facts = facts_of(suspect.node, suspect.model);
  return facts.is_ieee || hands_on(suspect.node, suspect.model) || facts.moves == Moves::kFilled;
}

constexpr const char* kSpecialNote =
    "its inputs hold NaN or infinities, and ONNX does not say what becomes of them";

/// Where a node chooses among its inputs, what NaN reaches is open; elsewhere (products with zero that are
/// left out, say) what is special in the exact value or the result.
bool has_special_inputs(const SuspectNode& suspect, const Trial& trial, const SpecialReach& reach,
                        const Tensor& result, const Tensor& exact, Explained& explained) {
  if (is_defined_for_specials(suspect)) return false;
  if (std::ranges::none_of(trial.inputs(), [](const Tensor& t) { return has_special(t, true); }))
    return false;
  explained.most = explained.most.reshaped(exact.shape());
  auto* most = explained.most.mutable_data<double>();
  const double *r = result.data<double>(), *y = exact.data<double>();
  const double* open = reach.elements.defined() ? reach.elements.data<double>() : nullptr;
  for (int64_t i = 0; i < exact.numel(); ++i)
    if (!std::isfinite(r[i]) || !std::isfinite(y[i]) || (open != nullptr && open[i] != 0)) most[i] = HUGE_VAL;
  return true;
}

/// The same of integers and truths.
bool differs_only_where_open(const StoredTensor& stored, const Tensor& exact, const SpecialReach& reach,
                             ArbiterVerdict& out) {
  if (!reach.elements.defined()) return false;
  const Tensor own = convert(stored.load(), DType::kFloat64), y = convert(exact, DType::kFloat64);
  const double *r = own.data<double>(), *p = y.data<double>(), *open = reach.elements.data<double>();
  int64_t beyond = 0;
  for (int64_t i = own.numel(); i-- > 0;) {
    if (r[i] == p[i] || open[i] != 0) continue;
    ++beyond;
    out.worst_at = i;
  }
  if (beyond > 0) out.beyond = beyond;
  return beyond == 0;
}

void leave_open(ArbiterVerdict& out) {
  out.verdict = Verdict::kOpen;
  out.certain = false;
  out.problem.clear();
  out.beyond = 0;
  out.note = kSpecialNote;
}

constexpr const char* kUnroundedNote =
    "its inputs may have been others before they were rounded to a narrow type";

/// Three noisy evaluations now and then are all next to the exact value where an input was rounded by much
/// more than its neighbours.
constexpr int kMoreEvaluations = 16;

bool explain_by_more_evaluations(const Trial& trial, const SuspectNode& suspect, const Tensor& result,
                                 const Standard& standard, DType dtype, Explained& explained) {
  const std::vector<Tensor> moved = evaluated_before_rounding(trial, suspect, kMoreEvaluations);
  if (moved.empty() ||
      std::ranges::any_of(moved, [&](const Tensor& t) { return t.shape() != standard.lanes[0].shape(); }))
    return false;
  std::vector<Tensor> lanes(standard.lanes.begin(), standard.lanes.end());
  Standard with_more = standard;
  if (standard.is_recurrence) {  // whose lanes hold its own errors, too
    with_more.moved = moved;
  } else {
    lanes.insert(lanes.end(), moved.begin(), moved.end());
    with_more.lanes = lanes;
  }
  explained = explained_for(result, with_more, dtype);
  return true;
}

constexpr const char* kOverflownNote =
    "its inputs may have been finite numbers before they were rounded to a narrow type";
constexpr int kOverflowDraws = 16;
/// Of the largest distance that the draws show.
constexpr double kOverflowFactor = 2;

/// Whether a result may be one of some others that draws have shown, or lies between them. Half of the least
/// and twice the largest are beside them, too: few draws do not find the ends.
bool is_among(double result, double exact, std::span<const Tensor> draws, int64_t i) {
  double low = exact, high = exact;
  bool any_nan = std::isnan(exact);
  for (const Tensor& t : draws) {
    const double x = t.data<double>()[i];
    any_nan = any_nan || std::isnan(x);
    low = std::fmin(low, x), high = std::fmax(high, x);
  }
  if (std::isnan(result)) return any_nan;
  low -= std::abs(low) * (low > 0 ? 0.5 : 1), high += std::abs(high) * (high < 0 ? 0.5 : 1);
  return result >= low && result <= high;
}

/// How far the draws lie from the exact value, at each element.
Tensor room_of_draws(std::span<const Tensor> draws, const Tensor& result, const Tensor& exact) {
  Tensor room = Tensor::zeros(DType::kFloat64, exact.shape());
  for (int64_t i = 0; i < exact.numel(); ++i) {
    double& most = room.mutable_data<double>()[i];
    const double y = exact.data<double>()[i];
    for (const Tensor& t : draws)
      if (const double x = t.data<double>()[i]; x != y && !(std::isnan(x) && std::isnan(y)))
        most = std::max(most, std::isfinite(x - y) ? std::abs(x - y) : HUGE_VAL);
    if (std::isinf(most)) most = is_among(result.data<double>()[i], y, draws, i) ? HUGE_VAL : 0;
  }
  return room;
}

/// An infinity that a narrow type made of a number takes no part in what a backend computes with that number.
/// Noisy lanes show what that changes, but of recurrences they count by what float32 errs only.
bool widen_for_overflown(const Trial& trial, const SuspectNode& suspect, const Tensor& result,
                         const Tensor& exact, DType dtype, Explained& explained) {
  std::vector<Tensor> before = evaluated_before_overflow(trial, suspect, kOverflowDraws);
  if (before.empty()) return false;
  const double largest = float_range(dtype).largest;
  for (Tensor& t : before) {
    if (t.shape() != exact.shape() || t.dtype() != DType::kFloat64) return false;
    t = map_elements<double>(
        t, [largest](double x) { return std::abs(x) > largest ? std::copysign(HUGE_VAL, x) : x; });
  }
  const Tensor room = room_of_draws(before, result, exact);
  for (Tensor* bound : {&explained.most, &explained.possible})
    if (bound->defined())
      *bound =
          map_broadcast<double>(*bound, room, [](double b, double r) { return b + kOverflowFactor * r; });
  if (explained.others.defined())
    explained.others = map_elements<double>(explained.others, [](double bits) -> double {
      return static_cast<unsigned>(bits) & ~(kNumber | kUntold);
    });
  return true;
}

constexpr const char* kSumsNote =
    "as float32 rounds the sums of these very addends, which are alike or come in an order in which the sums "
    "walk far";

/// Nobody adds up in a narrow type where it matters.
bool makes_sums_in_float32(const Explained& explained, DType stored) {
  const double u = unit_roundoff(stored), single = unit_roundoff(DType::kFloat32);
  return u == single || (u > single && explained.computed_wider);
}

/// Not in narrow types, whose noise would excuse too much, and where intermediate results that were not
/// rounded are allowed for anyway.
bool is_computed_as_one(const SuspectNode& suspect, const StoredTensor& stored, const Tensor& result,
                        ArbiterVerdict& out) {
  if (unit_roundoff(stored.dtype()) > unit_roundoff(DType::kFloat32)) return false;
  Deviation d;
  const auto explains = [&](const AsOne& a) {
    if (a.exact.shape() != result.shape()) return false;
    d = deviation(result, a.exact, a.explained, stored.dtype());
    return d.ratio <= 1;
  };
  std::optional<AsOne> one = computed_as_one(suspect, stored.dtype(), explains);
  if (!one) {
    one = with_operands_unrounded(suspect, result, stored.dtype());
    if (!one || !explains(*one)) return false;
  }
  out.verdict = Verdict::kRounding;
  out.note = one->note;
  set_worst(d, result, one->exact, one->explained, out);
  return true;
}

/// A result of floats that seems wrong. What is explained of it grows with every excuse that applies.
struct FloatPlea {
  FloatPlea(const SuspectNode& node, const Trial& t, const SpecialReach& specials, const StoredTensor& result,
            const Standard& s)
      : suspect(node),
        trial(t),
        reach(specials),
        stored(result),
        standard(s),
        exact(s.lanes[0]),
        wide(to_float64(result.load())),
        explained(explained_for(wide, s, result.dtype())) {}

  const SuspectNode& suspect;
  const Trial& trial;
  const SpecialReach& reach;
  const StoredTensor& stored;
  const Standard& standard;
  const Tensor& exact;
  Tensor wide;
  Explained explained;
  std::string note;
  std::vector<Excuse> used;

  bool has_used(Excuse e) const { return std::ranges::find(used, e) != used.end(); }
  bool bounded() const { return standard.error != nullptr; }
  Deviation deviates() const { return deviation(wide, exact, explained, stored.dtype(), standard.exact); }
  bool exceeds() const { return deviates().ratio > 1; }
  bool is_open() const { return bounded() && exceeds(); }
  /// Of the arithmetic in which it was computed.
  double u() const { return unit_roundoff(explained.computed_wider ? DType::kFloat32 : stored.dtype()); }
};

bool by_more_evaluations(FloatPlea& p) {
  return (p.is_open() || p.standard.is_recurrence) &&
         explain_by_more_evaluations(p.trial, p.suspect, p.wide, p.standard, p.stored.dtype(), p.explained);
}

bool by_flushed_inputs(FloatPlea& p) {
  const Tensor flushed = p.bounded() ? flushed_inputs(p.trial, p.stored.dtype()) : Tensor();
  if (!flushed.defined() || flushed.shape() != p.exact.shape()) return false;
  widen_for_flushed(flushed, p.exact, p.standard.error->operations, p.explained);
  return true;
}

bool by_sums(FloatPlea& p) {
  if (p.bounded())
    return makes_sums_in_float32(p.explained, p.stored.dtype()) && p.exceeds() &&
           widen_for_sums(p.trial, p.suspect, p.wide, p.exact, p.explained);
  return unit_roundoff(p.stored.dtype()) <= unit_roundoff(DType::kFloat32) && p.exceeds() &&
         (widen_for_sums(p.trial, p.suspect, p.wide, p.exact, p.explained) ||
          widen_for_sums_of_steps(p.trial, p.exact, p.explained));
}

bool by_winograd(FloatPlea& p) { return p.is_open() && widen_for_winograd(p.trial, p.u(), p.explained); }

bool by_reciprocal(FloatPlea& p) {
  return p.is_open() && widen_for_reciprocal(p.trial, p.exact, p.u(), p.explained);
}

bool by_unrounded_softmax(FloatPlea& p) {
  return p.is_open() && widen_for_unrounded(p.trial, p.suspect, p.exact, p.explained);
}

bool by_overflown_inputs(FloatPlea& p) {
  const Deviation d = p.deviates();
  return (d.ratio > 1 || d.untold > 0) &&
         widen_for_overflown(p.trial, p.suspect, p.wide, p.exact, p.stored.dtype(), p.explained);
}

/// Each widens what is explained and says whether it did; in the order of excuses.def.
struct Widening {
  Excuse excuse;
  bool (*widen)(FloatPlea&);
  const char* note;
};
constexpr Widening kWidenings[] = {
    {Excuse::kUnroundedInputs, by_more_evaluations, kUnroundedNote},
    {Excuse::kFlushedInputs, by_flushed_inputs, "numbers too small for normal ones were taken as zero"},
    {Excuse::kSums, by_sums, kSumsNote},
    {Excuse::kWinograd, by_winograd,
     "as a fast convolution (Winograd) rounds: by units of the largest numbers nearby"},
    {Excuse::kReciprocal, by_reciprocal, "as a product with the divisor's reciprocal rounds"},
    {Excuse::kUnroundedSoftmax, by_unrounded_softmax, kUnroundedNote},
    {Excuse::kOverflownInputs, by_overflown_inputs, kOverflownNote},
};

/// By what is explained now.
void judge_again(FloatPlea& p, ArbiterVerdict& out) {
  Deviation d = p.deviates();
  const bool special = d.ratio > 1 && p.standard.excuses.allows(Excuse::kSpecials) &&
                       has_special_inputs(p.suspect, p.trial, p.reach, p.wide, p.exact, p.explained);
  if (special) {
    d = p.deviates();
    p.note = kSpecialNote;
    p.used.push_back(Excuse::kSpecials);
  }
  if (d.ratio > 1) {
    const bool is_near = d.ratio <= kNearFactor && d.untold == 0;
    // Of what overflowed before, noisy evaluations have left it open, and the draws decide.
    if (!is_near && !p.has_used(Excuse::kOverflownInputs)) return;
    out.verdict = is_near ? Verdict::kUnclear : Verdict::kWrong;
    out.note = is_near ? p.note : out.note;
  } else if (d.untold > 0) {
    return;
  } else {
    out.verdict = special ? Verdict::kOpen : d.rounded ? Verdict::kAgrees : Verdict::kRounding;
    out.note = p.note;
  }
  set_worst(d, p.wide, p.exact, p.explained, out);
}

/// Which excuses applied, whether they were needed or not.
std::vector<Excuse> excuse_floats(FloatPlea p, ArbiterVerdict& out) {
  const ExcuseSet& excuses = p.standard.excuses;
  // None of them moves all elements by the same.
  if (p.explained.computed_wider &&
      unexplained_factor(p.wide, p.standard.lanes, p.standard.offset, p.stored.dtype()))
    return {};
  for (const Widening& w : kWidenings)
    if (excuses.allows(w.excuse) && w.widen(p)) {
      p.note = w.note;
      p.used.push_back(w.excuse);
    }
  if (excuses.allows(Excuse::kComputedAtOnce) && p.is_open() &&
      is_computed_as_one(p.suspect, p.stored, p.wide, out))
    p.used.push_back(Excuse::kComputedAtOnce);
  else
    judge_again(p, out);
  return p.used;
}

/// What explains integers and texts as a whole.
std::optional<Excuse> excuse_integers(const SuspectNode& suspect, const Trial& trial,
                                      const SpecialReach& reach, const StoredTensor& stored,
                                      const Standard& standard, ArbiterVerdict& out) {
  if (stored.dtype() != standard.lanes[0].dtype()) return {};
  const ExcuseSet& excuses = standard.excuses;
  if (excuses.allows(Excuse::kHalfStep) && between_steps(suspect, trial, stored, out))
    return Excuse::kHalfStep;
  if (excuses.allows(Excuse::kOwnScale) && follows_own_scale(suspect, trial, stored, out))
    return Excuse::kOwnScale;
  if (const std::optional<Excuse> open = left_open(suspect, trial, stored, excuses, out)) return open;
  if (out.verdict != Verdict::kWrong || stored.dtype() == DType::kString ||
      !differs_only_where_open(stored, standard.lanes[0], reach, out))
    return {};
  leave_open(out);
  return Excuse::kSpecials;
}

std::vector<Excuse> as_list(std::optional<Excuse> e) { return e ? std::vector{*e} : std::vector<Excuse>{}; }

/// Changes the verdict where excuses explain the result. Returns those that applied.
std::vector<Excuse> ask(const SuspectNode& suspect, const StoredTensor& stored, const Standard& standard,
                        ArbiterVerdict& out) {
  const ExcuseSet& excuses = standard.excuses;
  if (excuses.allows(Excuse::kRandom) && is_random(suspect.node, suspect.model)) {
    out.verdict = Verdict::kOpen;
    out.note = "which numbers a random operator draws is the backend's choice";
    return {Excuse::kRandom};
  }
  if (standard.basis != Basis::kNode) return {};
  const Trial trial(suspect);
  const SpecialReach reach =
      excuses.allows(Excuse::kSpecials) ? reach_of_specials(suspect, trial, stored.shape()) : SpecialReach{};
  if (reach.all && has_type_of(stored, standard)) {
    leave_open(out);
    return {Excuse::kSpecials};
  }
  if (stored.shape() != standard.lanes[0].shape() || !trial.usable()) return {};
  if (!is_float(stored.dtype()))
    return as_list(excuse_integers(suspect, trial, reach, stored, standard, out));
  if (!out.problem.empty()) return {};
  if (const std::optional<Excuse> open = left_open(suspect, trial, stored, excuses, out)) return {*open};
  return excuse_floats(FloatPlea(suspect, trial, reach, stored, standard), out);
}

}  // namespace

void excuse(const SuspectNode& suspect, const StoredTensor& stored, const Standard& standard,
            ArbiterVerdict& out) {
  const ArbiterVerdict before = out;
  const std::vector<Excuse> used = ask(suspect, stored, standard, out);
  if (out.verdict == before.verdict || out.verdict == Verdict::kWrong) return;
  // Of several those without which it would be judged otherwise; all of them where each can be spared.
  const auto is_needed = [&](Excuse e) {
    Standard less = standard;
    less.excuses = standard.excuses.without(e);
    ArbiterVerdict otherwise = before;
    ask(suspect, stored, less, otherwise);
    return otherwise.verdict != out.verdict;
  };
  std::vector<Excuse> needed;
  if (used.size() > 1) std::ranges::copy_if(used, std::back_inserter(needed), is_needed);
  for (const Excuse e : needed.empty() ? used : needed) out.excuses.emplace_back(excuse_name(e));
}

}  // namespace assay
