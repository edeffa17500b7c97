#include "arbiter/jumps.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "arbiter/choices.h"
#include "arbiter/unrounded.h"
#include "graph/read.h"
#include "ops/eval_util.h"
#include "ops/node_facts.h"
#include "tensor/convert.h"

namespace assay {
namespace {

/// Whether zeros among the inputs may have been other numbers that were too small: the lanes then differ at
/// some.
bool zeros_are_rounded(const Trial& trial, std::span<const Tensor> lanes) {
  for (const Tensor& input : trial.inputs()) {
    if (!input.defined() || !is_float(input.dtype()) || input.shape() != lanes[0].shape()) continue;
    const Tensor wide = to_float64(input), exact = convert(lanes[0], DType::kFloat64);
    for (const Tensor& lane : lanes.subspan(1)) {
      if (lane.shape() != lanes[0].shape()) continue;
      const Tensor other = convert(lane, DType::kFloat64);
      for (int64_t i = 0; i < wide.numel(); ++i)
        if (wide.data<double>()[i] == 0 && other.data<double>()[i] != exact.data<double>()[i]) return true;
    }
  }
  return false;
}

/// The inputs where the result is largest, or smallest: those of narrow types that were computed are moved by
/// half a unit in their last place. Empty when there are none.
std::vector<Tensor> moved_inputs(const SuspectNode& suspect, const Trial& trial, const StepsFact& steps,
                                 int side, bool zeros) {
  std::vector<Tensor> inputs = trial.inputs();
  bool any = false;
  for (size_t i = 0; i < inputs.size() && i < 2; ++i) {
    const HalfUnit half(suspect, suspect.node.input(i), zeros);
    if (!half.any()) continue;
    const double direction = side * (i == 0 ? steps.first : steps.second);
    inputs[i] =
        map_elements<double>(to_float64(inputs[i]), [=](double x) { return x + direction * half(x); });
    any = true;
  }
  if (!any) inputs.clear();
  return inputs;
}

/// The least and the most that each element may be; undefined where that is not known, or no input was
/// rounded.
struct Ends {
  Tensor low, high;
};

Ends ends_of(const SuspectNode& suspect, const Trial& trial, const StepsFact& steps,
             const StoredTensor& stored, std::span<const Tensor> lanes) {
  if (!trial.usable() || lanes[0].shape() != stored.shape()) return {};
  const bool zeros = zeros_are_rounded(trial, lanes);
  Ends ends;
  for (const int side : {-1, 1}) {
    std::vector<Tensor> inputs = moved_inputs(suspect, trial, steps, side, zeros);
    if (inputs.empty()) return {};
    Tensor& end = side < 0 ? ends.low : ends.high;
    end = trial.evaluate(std::move(inputs));
    if (!end.defined() || end.shape() != stored.shape()) return {};
    end = convert(convert(end, stored.dtype()), DType::kFloat64);
  }
  return ends;
}

/// What elements may be, as float64: between the ends, or what an evaluation gave.
struct Allowed {
  Ends ends;
  std::vector<Tensor> seen;
  bool so_far_right;  ///< what is no number was judged before

  bool holds(double r, int64_t i) const {
    // What is between two steps is none.
    const bool is_between = (so_far_right || !std::isnan(r)) && !(r < ends.low.data<double>()[i]) &&
                            !(r > ends.high.data<double>()[i]) && (r == std::trunc(r) || !std::isfinite(r));
    return is_between || std::ranges::any_of(seen, [&](const Tensor& t) {
             const double y = t.data<double>()[i];
             return y == r || (so_far_right && std::isfinite(y) != std::isfinite(r));
           });
  }
};

Allowed allowed_by(Ends ends, std::span<const Tensor> lanes, const Shape& shape, bool so_far_right) {
  Allowed allowed{.ends = std::move(ends), .seen = {}, .so_far_right = so_far_right};
  for (const Tensor& lane : lanes)
    if (lane.shape() == shape) allowed.seen.push_back(convert(lane, DType::kFloat64));
  return allowed;
}

void set_excused(ArbiterVerdict& out) {
  out.verdict = Verdict::kRounding;
  out.certain = false;
  out.beyond = 0;
  out.worst_ratio = 1;
  out.problem.clear();
  out.note = "where its inputs, before they were rounded, may have jumped to";
  excused_by(Excuse::kJumps, out);
}

void set_wrong(const Allowed& allowed, double result, int64_t first, int64_t beyond, ArbiterVerdict& out) {
  const double low = allowed.ends.low.data<double>()[first], high = allowed.ends.high.data<double>()[first];
  out.verdict = Verdict::kWrong;
  out.beyond = beyond;
  out.worst_at = first;
  out.worst_result = result;
  out.worst_exact = allowed.seen.empty() ? low : allowed.seen[0].data<double>()[first];
  out.worst_error = std::abs(out.worst_result - out.worst_exact);
  out.worst_explained = high - low;
  out.worst_ratio = HUGE_VAL;
  out.certain = true;
  out.note = "beyond where its inputs, before they were rounded, may have jumped to";
}

}  // namespace

void judge_jumps(const SuspectNode& suspect, const StoredTensor& stored, std::span<const Tensor> lanes,
                 const ExcuseSet& excuses, ArbiterVerdict& out) {
  if (is_op(suspect.node, "Cast") && is_float(stored.dtype())) return;
  const Trial trial(suspect);
  const bool so_far_right = out.verdict != Verdict::kWrong;
  if ((so_far_right || excuses.allows(Excuse::kChoices)) && judge_choices(suspect, trial, stored, out))
    return;
  const StepsFact steps = facts_of(suspect.node, suspect.model).steps;
  if (!steps.any() || !(so_far_right || excuses.allows(Excuse::kJumps))) return;
  Ends ends = ends_of(suspect, trial, steps, stored, lanes);
  if (!ends.high.defined()) return;
  const Allowed allowed = allowed_by(std::move(ends), lanes, stored.shape(), so_far_right);
  const Tensor result = convert(stored.load(), DType::kFloat64);
  const double* r = result.data<double>();
  int64_t beyond = 0, first = -1;
  for (int64_t i = result.numel(); i-- > 0;) {
    if (allowed.holds(r[i], i)) continue;
    ++beyond;
    first = i;
  }
  if (beyond > 0)
    set_wrong(allowed, r[first], first, beyond, out);
  else if (!so_far_right)
    set_excused(out);
}

}  // namespace assay
