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

}  // namespace

void judge_jumps(const SuspectNode& suspect, const StoredTensor& stored, std::span<const Tensor> lanes,
                 const ExcuseSet& excuses, ArbiterVerdict& out) {
  const StepsFact steps = facts_of(suspect.node, suspect.model).steps;
  if (is_op(suspect.node, "Cast") && is_float(stored.dtype())) return;
  const Trial trial(suspect);
  const auto may_judge = [&](Excuse e) { return out.verdict != Verdict::kWrong || excuses.allows(e); };
  if (may_judge(Excuse::kChoices) && judge_choices(suspect, trial, stored, out)) return;
  if (!steps.any() || !may_judge(Excuse::kJumps)) return;
  if (!trial.usable() || lanes[0].shape() != stored.shape()) return;
  const bool zeros = zeros_are_rounded(trial, lanes);
  Tensor ends[2];
  for (const int side : {0, 1}) {
    std::vector<Tensor> inputs = moved_inputs(suspect, trial, steps, 2 * side - 1, zeros);
    if (inputs.empty()) return;
    ends[side] = trial.evaluate(std::move(inputs));
    if (!ends[side].defined() || ends[side].shape() != stored.shape()) return;
    ends[side] = convert(convert(ends[side], stored.dtype()), DType::kFloat64);
  }
  std::vector<Tensor> seen;
  for (const Tensor& lane : lanes)
    if (lane.shape() == stored.shape()) seen.push_back(convert(lane, DType::kFloat64));
  const Tensor result = convert(stored.load(), DType::kFloat64);
  const double *r = result.data<double>(), *low = ends[0].data<double>(), *high = ends[1].data<double>();
  const bool right = out.verdict != Verdict::kWrong;  // so far, specials among it
  int64_t beyond = 0, first = -1;
  for (int64_t i = result.numel(); i-- > 0;) {
    // What is between two steps is none.
    if ((right || !std::isnan(r[i])) && !(r[i] < low[i]) && !(r[i] > high[i]) &&
        (r[i] == std::trunc(r[i]) || !std::isfinite(r[i])))
      continue;
    if (std::ranges::any_of(seen, [&](const Tensor& t) {
          const double y = t.data<double>()[i];
          return y == r[i] || (right && std::isfinite(y) != std::isfinite(r[i]));
        }))
      continue;
    ++beyond;
    first = i;
  }
  if (beyond == 0) {
    if (right) return;
    out.verdict = Verdict::kRounding;
    out.certain = false;
    out.beyond = 0;
    out.worst_ratio = 1;
    out.problem.clear();
    out.note = "where its inputs, before they were rounded, may have jumped to";
    excused_by(Excuse::kJumps, out);
    return;
  }
  out.verdict = Verdict::kWrong;
  out.beyond = beyond;
  out.worst_at = first;
  out.worst_result = r[first];
  out.worst_exact = seen.empty() ? low[first] : seen[0].data<double>()[first];
  out.worst_error = std::abs(out.worst_result - out.worst_exact);
  out.worst_explained = high[first] - low[first];
  out.worst_ratio = HUGE_VAL;
  out.certain = true;
  out.note = "beyond where its inputs, before they were rounded, may have jumped to";
}

}  // namespace assay
