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

double value_at(const Tensor& wide, size_t i) { return wide.data<double>()[i]; }

}  // namespace

void judge_integers(const Tensor& result, const Standard& standard, ArbiterVerdict& out) {
  const std::span<const Tensor> lanes = standard.lanes;
  const Tensor* also_right = standard.exact;
  std::vector<bool> wrong = differing(result, lanes[0]);
  if (also_right != nullptr && also_right->dtype() == result.dtype() &&
      also_right->shape() == result.shape()) {
    const std::vector<bool> beside = differing(result, *also_right);
    for (size_t i = 0; i < wrong.size(); ++i) wrong[i] = wrong[i] && beside[i];
  }
  const auto count = std::count(wrong.begin(), wrong.end(), true);
  if (count == 0) return;
  const bool numbers = is_number(result.dtype());
  const auto wide = [&](const Tensor& t) { return numbers ? convert(t, DType::kFloat64) : Tensor(); };
  const Tensor own = wide(result), exact = wide(lanes[0]);
  // What the lanes show: for each element how far they go, and the step that nine in ten
  // do not exceed: half of the places of equal numbers are farther apart than their median.
  std::vector<double> reach(wrong.size(), -1), squares(wrong.size());
  bool varies = false;  // what it is made from does, so that another evaluation may show another value
  for (const Tensor& lane : lanes.subspan(1)) {
    if (lane.shares_storage(lanes[0])) continue;
    varies = true;
    const std::vector<bool> differs = differing(lane, lanes[0]);
    const Tensor at = wide(lane);
    for (size_t i = 0; i < reach.size(); ++i)
      if (differs[i]) {
        const double distance = numbers ? std::abs(value_at(at, i) - value_at(exact, i)) : 0;
        reach[i] = std::max(reach[i], distance);
        squares[i] += distance * distance / static_cast<double>(lanes.size() - 1);
      }
  }
  const auto explained = [&](size_t i) {
    if (!standard.is_level) return std::max(kStep, kExplainedFactor * reach[i]);
    return explained_steps(std::sqrt(squares[i]), standard.noisy_levels ? kLevelFactor : kExplainedFactor);
  };
  const auto undecided = std::count_if(reach.begin(), reach.end(), [](double r) { return r >= 0; });
  std::vector<double> steps;
  for (const double r : reach)
    if (r >= 0) steps.push_back(r);
  std::sort(steps.begin(), steps.end());
  const double usual = steps.empty() || standard.is_level ? 0 : steps[steps.size() * 9 / 10];
  int64_t beyond = 0, missed = 0, first = -1;
  for (size_t i = 0; i < wrong.size(); ++i) {
    if (!wrong[i]) continue;
    const double error = numbers ? std::abs(value_at(own, i) - value_at(exact, i)) : 0;
    const bool shown = reach[i] >= 0 && error <= explained(i);
    const bool plausible = undecided > 0 && error <= std::max(usual, kStep);
    if (!shown) ++(plausible ? missed : beyond);
    if (!shown && !plausible && first < 0) first = static_cast<int64_t>(i);
    out.own_error = std::max(out.own_error, error);
  }
  const bool all_explained =
      beyond == 0 && static_cast<double>(missed) <= kExplainedFactor * static_cast<double>(undecided);
  out.verdict = all_explained ? Verdict::kRounding : Verdict::kWrong;
  out.certain = !all_explained && undecided == 0 && (out.basis == Basis::kNode || !varies);
  out.beyond = all_explained ? 0 : std::max(beyond, missed);
  const auto any = std::find(wrong.begin(), wrong.end(), true) - wrong.begin();
  out.worst_at = first >= 0 ? first : any;
  if (numbers) {
    out.worst_exact = value_at(exact, static_cast<size_t>(out.worst_at));
    out.worst_result = value_at(own, static_cast<size_t>(out.worst_at));
    out.worst_error = std::abs(out.worst_result - out.worst_exact);
  }
  out.problem = fmt::format("{} of {} values differ", count, result.numel());
  if (undecided > 0) out.problem += fmt::format(", where rounding decides about {}", undecided);
}

}  // namespace assay
