#include "arbiter/integers.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "ops/eval_util.h"
#include "reference/error_bound.h"
#include "tensor/convert.h"

namespace assay {
namespace {

/// One step beyond what the lanes show is still the rounding that they show.
constexpr double kStep = 1;

std::vector<bool> differing(const Tensor& a, const Tensor& b) {
  std::vector<bool> list(static_cast<size_t>(a.numel()));
  if (is_packed(a.dtype())) return differing(convert(a, DType::kInt8), convert(b, DType::kInt8));
  const auto size = static_cast<int64_t>(a.dtype() == DType::kString ? 0 : bit_width(a.dtype()) / 8);
  const auto *x = static_cast<const char*>(a.data()), *y = static_cast<const char*>(b.data());
  for (int64_t i = 0; i < a.numel(); ++i)
    list[static_cast<size_t>(i)] =
        a.dtype() == DType::kString
            ? a.span<std::string>()[static_cast<size_t>(i)] != b.span<std::string>()[static_cast<size_t>(i)]
            : !std::equal(x + i * size, x + (i + 1) * size, y + i * size);
  return list;
}

/// Values of which a difference is a size: numbers, not truths or texts.
bool is_number(DType t) { return t != DType::kString && t != DType::kBool && !is_complex(t); }

/// IntegerValues that can be subtracted; nothing of truths and texts.
class IntegerValues {
 public:
  explicit IntegerValues(const Tensor& t)
      : wide_(is_number(t.dtype()) ? convert(t, DType::kFloat64) : Tensor()) {}
  bool any() const { return wide_.defined(); }
  double at(size_t i) const { return wide_.data<double>()[i]; }
  /// 0 where there are none.
  double distance(const IntegerValues& other, size_t i) const {
    return any() ? std::abs(at(i) - other.at(i)) : 0;
  }

 private:
  Tensor wide_;
};

/// Elements that are neither the exact value nor that of the exact network, if there is one.
std::vector<bool> wrong_elements(const Tensor& result, const Standard& standard) {
  std::vector<bool> wrong = differing(result, standard.lanes[0]);
  const Tensor* also_right = standard.exact;
  if (also_right == nullptr || also_right->dtype() != result.dtype() || also_right->shape() != result.shape())
    return wrong;
  const std::vector<bool> beside = differing(result, *also_right);
  for (size_t i = 0; i < wrong.size(); ++i) wrong[i] = wrong[i] && beside[i];
  return wrong;
}

/// How far the lanes differ from the exact value, element by element.
struct ShownByLanes {
  std::vector<double> reach, squares;  ///< negative: they agree
  bool varies = false;    ///< what it is made from does, so that another evaluation may show another value
  int64_t undecided = 0;  ///< elements about which they do not agree
  double usual = 0;       ///< the step that nine in ten of these do not exceed

  double explained(size_t i, const Standard& standard) const {
    if (!standard.is_level) return std::max(kStep, kExplainedFactor * reach[i]);
    return explained_steps(std::sqrt(squares[i]), standard.noisy_levels ? kLevelFactor : kExplainedFactor);
  }
};

/// Half of the places of equal numbers are farther apart than their median: hence nine in ten.
double usual_step(const std::vector<double>& reach) {
  std::vector<double> steps;
  std::ranges::copy_if(reach, std::back_inserter(steps), [](double r) { return r >= 0; });
  std::ranges::sort(steps);
  return steps.empty() ? 0 : steps[steps.size() * 9 / 10];
}

ShownByLanes shown_by_lanes(const Standard& standard, const IntegerValues& exact, size_t count) {
  const std::span<const Tensor> lanes = standard.lanes;
  ShownByLanes shown{.reach = std::vector<double>(count, -1), .squares = std::vector<double>(count)};
  for (const Tensor& lane : lanes.subspan(1)) {
    if (lane.shares_storage(lanes[0])) continue;
    shown.varies = true;
    const std::vector<bool> differs = differing(lane, lanes[0]);
    const IntegerValues at(lane);
    for (size_t i = 0; i < count; ++i) {
      if (!differs[i]) continue;
      const double distance = at.distance(exact, i);
      shown.reach[i] = std::max(shown.reach[i], distance);
      shown.squares[i] += distance * distance / static_cast<double>(lanes.size() - 1);
    }
  }
  shown.undecided = std::ranges::count_if(shown.reach, [](double r) { return r >= 0; });
  if (!standard.is_level) shown.usual = usual_step(shown.reach);
  return shown;
}

/// The wrong elements, by what the lanes show of them.
struct Tally {
  int64_t missed = 0;  ///< as far off as elements are about which rounding decides
  int64_t beyond = 0, first = -1;
  double largest = 0;
};

Tally tally(const std::vector<bool>& wrong, const IntegerValues& own, const IntegerValues& exact,
            const ShownByLanes& shown, const Standard& standard) {
  Tally t;
  for (size_t i = 0; i < wrong.size(); ++i) {
    if (!wrong[i]) continue;
    const double error = own.distance(exact, i);
    t.largest = std::max(t.largest, error);
    if (shown.reach[i] >= 0 && error <= shown.explained(i, standard)) continue;
    const bool is_plausible = shown.undecided > 0 && error <= std::max(shown.usual, kStep);
    ++(is_plausible ? t.missed : t.beyond);
    if (!is_plausible && t.first < 0) t.first = static_cast<int64_t>(i);
  }
  return t;
}

/// Of the wrong elements those that no evaluation gives. The distance between two places says nothing.
int64_t count_unseen(const Tensor& result, std::vector<bool> wrong, std::span<const Tensor> lanes) {
  for (const Tensor& lane : lanes.subspan(1)) {
    const std::vector<bool> differs = differing(result, lane);
    for (size_t i = 0; i < wrong.size(); ++i) wrong[i] = wrong[i] && differs[i];
  }
  return std::ranges::count(wrong, true);
}

}  // namespace

void judge_integers(const Tensor& result, const Standard& standard, ArbiterVerdict& out) {
  const std::vector<bool> wrong = wrong_elements(result, standard);
  const auto count = std::ranges::count(wrong, true);
  if (count == 0) return;
  const IntegerValues own(result), exact(standard.lanes[0]);
  const ShownByLanes shown = shown_by_lanes(standard, exact, wrong.size());
  const Tally t = tally(wrong, own, exact, shown, standard);
  const bool all_explained = t.beyond == 0 && static_cast<double>(t.missed) <=
                                                  kExplainedFactor * static_cast<double>(shown.undecided);
  const int64_t unseen =
      all_explained && standard.is_choice ? count_unseen(result, wrong, standard.lanes) : 0;
  out.own_error = std::max(out.own_error, t.largest);
  out.verdict = all_explained ? Verdict::kRounding : Verdict::kWrong;
  out.certain = !all_explained && shown.undecided == 0 && (out.basis == Basis::kNode || !shown.varies);
  out.beyond = all_explained ? 0 : std::max(t.beyond, t.missed);
  out.worst_at = t.first >= 0 ? t.first : std::ranges::find(wrong, true) - wrong.begin();
  if (own.any()) {
    out.worst_exact = exact.at(static_cast<size_t>(out.worst_at));
    out.worst_result = own.at(static_cast<size_t>(out.worst_at));
    out.worst_error = std::abs(out.worst_result - out.worst_exact);
  }
  out.problem = fmt::format("{} of {} values differ", count, result.numel());
  if (shown.undecided > 0) out.problem += fmt::format(", where rounding decides about {}", shown.undecided);
  // Few evaluations show most of what rounding does.
  if (2 * unseen > count && out.basis != Basis::kNode) {
    out.verdict = Verdict::kCannotTell;
    out.note =
        fmt::format("rounding decides what is chosen, but {} of these choices no evaluation made", unseen);
  }
}

}  // namespace assay
