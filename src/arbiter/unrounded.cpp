#include "arbiter/unrounded.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "graph/read.h"
#include "ops/eval_util.h"
#include "ops/node_facts.h"
#include "ops/numerics/noise.h"
#include "reference/quantisation_scale.h"
#include "tensor/float_range.h"

namespace assay {
bool keeps_numbers(const Node& n, const Model& model) {
  const Moves moves = facts_of(n, model).moves;
  return moves != Moves::kNothing && moves != Moves::kExtents;
}

HalfUnit::HalfUnit(const SuspectNode& suspect, const Value* input, bool zeros) : zeros_(zeros) {
  if (input == nullptr || input->producer() == nullptr || is_op(*input->producer(), "Constant")) return;
  const DType type = suspect.own(*input).dtype();
  if (!is_float(type) || unit_roundoff(type) <= unit_roundoff(DType::kFloat32)) return;
  u_ = unit_roundoff(type);
  smallest_ = float_range(type).smallest / 2;
  if (facts_of(*input->producer(), suspect.model).gives_whole) whole_ = 1 / u_;
}

double HalfUnit::operator()(double x) const {
  return (x == 0 && !zeros_) || std::abs(x) <= whole_ ? 0 : std::max(u_ * std::abs(x), smallest_);
}

namespace {

/// Of each input of a trial; nothing is rounded where it was not widened for the trial.
std::vector<HalfUnit> half_units(const Trial& trial, const SuspectNode& suspect, bool zeros = false) {
  std::vector<HalfUnit> halves;
  for (size_t i = 0; i < trial.inputs().size(); ++i) {
    const Tensor& t = trial.inputs()[i];
    const bool wide = t.defined() && t.dtype() == DType::kFloat64;
    halves.emplace_back(suspect, wide ? suspect.node.input(i) : nullptr, zeros);
  }
  return halves;
}

/// The node `count` times, with `move(k, i, x)` called on a copy of each input i that was rounded.
template <typename F>
std::vector<Tensor> evaluated_moved(const Trial& trial, const std::vector<HalfUnit>& halves, int count,
                                    F move) {
  std::vector<Tensor> results;
  for (int k = 0; k < count; ++k) {
    std::vector<Tensor> moved = trial.inputs();
    for (size_t i = 0; i < moved.size(); ++i) {
      if (!halves[i].any()) continue;
      moved[i] = map_elements<double>(moved[i], [](double x) { return x; });
      move(k, i, moved[i].mutable_span<double>());
    }
    results.push_back(trial.evaluate(std::move(moved)));
    if (!results.back().defined()) return {};
  }
  return results;
}

}  // namespace

namespace {

/// Whether it is a function of one element, or of two, that rounds and goes from one number to the next.
bool is_continuous(const OpDef& op) {
  const OpFacts& facts = op.facts;
  return (facts.elementwise == 1 || facts.elementwise == 2) && op.numerics.kind != Numerics::Kind::kExact &&
         !facts.jumps && !facts.recodes && facts.moves == Moves::kNothing;
}

/// An end is half a unit away; halves of that show a turning point in between.
constexpr double kPlaces[] = {-1, -0.5, 0.5, 1};

/// The largest distances from `exact` of what the node gives when its inputs are moved by these half units.
/// Undefined where it cannot be evaluated on one of them.
Tensor reach_of(const Trial& trial, const std::vector<HalfUnit>& halves, const Tensor& exact) {
  const bool alone = std::ranges::count_if(halves, &HalfUnit::any) == 1;
  Tensor reach = Tensor::zeros(DType::kFloat64, exact.shape());
  for (const double first : kPlaces)
    for (const double second : kPlaces) {
      if (alone && first != second) continue;
      std::vector<Tensor> inputs = trial.inputs();
      bool is_first = true;
      for (size_t i = 0; i < inputs.size(); ++i) {
        if (!halves[i].any()) continue;
        const double place = is_first ? first : second;
        is_first = false;
        inputs[i] = map_elements<double>(inputs[i], [&](double x) { return x + place * halves[i](x); });
      }
      const Tensor y = trial.evaluate(std::move(inputs));
      if (!y.defined() || y.shape() != exact.shape()) return {};
      const Tensor distance = map_broadcast<double>(
          y, exact, [](double a, double b) { return std::isfinite(a - b) ? std::abs(a - b) : 0.0; });
      reach = map_broadcast<double>(reach, distance, [](double a, double b) { return std::max(a, b); });
    }
  return reach;
}

bool has_zeros(const Trial& trial) {
  return std::ranges::any_of(trial.inputs(), [](const Tensor& t) {
    return t.defined() && t.dtype() == DType::kFloat64 &&
           std::ranges::any_of(t.span<double>(), [](double x) { return x == 0; });
  });
}

/// Zeros that were computed as such are the same in all lanes: of a product with one of them the lanes agree.
void reach_from_zeros(const Trial& trial, const SuspectNode& suspect, std::span<const Tensor> lanes,
                      const Tensor& exact, Tensor& reach) {
  if (!has_zeros(trial)) return;
  Tensor differ = Tensor::zeros(DType::kFloat64, exact.shape());
  for (const Tensor& lane : lanes)
    if (lane.shape() == exact.shape() && lane.dtype() == DType::kFloat64)
      differ = map_broadcast<double>(
          differ,
          map_broadcast<double>(lane, lanes[0], [](double a, double b) { return a != b ? 1.0 : 0.0; }),
          [](double a, double b) { return std::max(a, b); });
  const Tensor more = reach_of(trial, half_units(trial, suspect, true), exact);
  if (!more.defined()) return;
  const Tensor open = map_broadcast<double>(more, differ, [](double m, double d) { return d != 0 ? m : 0; });
  reach = map_broadcast<double>(reach, open, [](double a, double b) { return std::max(a, b); });
}

}  // namespace

Tensor reach_of_inputs(const Trial& trial, const SuspectNode& suspect, std::span<const Tensor> lanes) {
  if (!trial.usable() || trial.output() != 0 || !is_continuous(trial.op())) return {};
  const std::vector<HalfUnit> halves = half_units(trial, suspect);
  if (std::ranges::none_of(halves, &HalfUnit::any)) return {};
  const Tensor exact = trial.evaluate(trial.inputs());
  if (!exact.defined() || exact.dtype() != DType::kFloat64) return {};
  Tensor reach = reach_of(trial, halves, exact);
  if (reach.defined()) reach_from_zeros(trial, suspect, lanes, exact, reach);
  return reach;
}

std::vector<Tensor> evaluated_before_rounding(const Trial& trial, const SuspectNode& suspect, int count) {
  const std::vector<HalfUnit> halves = half_units(trial, suspect);
  if (std::ranges::none_of(halves, &HalfUnit::any)) return {};
  std::vector<Tensor> results =
      evaluated_moved(trial, halves, count, [&](int k, size_t i, std::span<double> x) {
        const uint64_t key = mix_key(static_cast<uint64_t>(k), i);
        for (size_t at = 0; at < x.size(); ++at)
          if (std::isfinite(x[at])) x[at] += noise(key, at) * halves[i](x[at]);
      });
  if (std::ranges::any_of(results, [](const Tensor& t) { return t.dtype() != DType::kFloat64; })) return {};
  return results;
}

std::vector<Tensor> evaluated_before_overflow(const Trial& trial, const SuspectNode& suspect, int count) {
  const std::vector<HalfUnit> halves = half_units(trial, suspect);
  std::vector<double> least(halves.size());
  bool any = false;
  for (size_t i = 0; i < halves.size(); ++i) {
    if (!halves[i].any()) continue;
    any =
        any || std::ranges::any_of(trial.inputs()[i].span<double>(), [](double x) { return std::isinf(x); });
    const DType type = suspect.own(*suspect.node.input(i)).dtype();
    least[i] = float_range(type).largest * (1 + unit_roundoff(type));
  }
  if (!any) return {};
  const double most = float_range(DType::kFloat32).largest;
  return evaluated_moved(trial, halves, 1 + count, [&](int k, size_t i, std::span<double> x) {
    const uint64_t key = mix_key(static_cast<uint64_t>(k), i);
    for (size_t at = 0; at < x.size(); ++at) {
      if (!std::isinf(x[at])) continue;
      // Of the orders of magnitude: half of the draws are at most 16 times the least.
      const double share = k == 0 ? 0 : std::pow(2 * std::abs(noise(key, at)) - 1, 5);
      x[at] = std::copysign(least[i] * std::pow(most / least[i], share), x[at]);
    }
  });
}

}  // namespace assay
