#include <fmt/format.h>

#include <algorithm>

#include "arbiter/arbiter.h"

namespace assay {
namespace {

/// Two runs that are off by sizes this near each other are off for the same reason.
constexpr double kSameSize = 4;

/// The first result of a runner with a verdict.
const ArbiterVerdict* first_of(const Arbitration& traced, const std::string& runner, Verdict verdict) {
  const auto found = std::ranges::find_if(
      traced.outputs, [&](const ArbiterVerdict& o) { return o.runner == runner && o.verdict == verdict; });
  return found == traced.outputs.end() ? nullptr : &*found;
}
const ArbiterVerdict* first_open(const Arbitration& traced, const std::string& runner) {
  return first_of(traced, runner, Verdict::kOpen);
}
const ArbiterVerdict* first_maker(const Arbitration& traced, const std::string& runner) {
  return first_of(traced, runner, Verdict::kWrong);
}

bool has_maker(const Arbitration& traced, const std::string& runner) {
  return first_maker(traced, runner) != nullptr || first_of(traced, runner, Verdict::kNotJudged) != nullptr;
}

/// Little of it could be checked, and no node makes an error.
void apply_to_untold(ArbiterVerdict& o, const Arbitration& traced) {
  const ArbiterVerdict* unclear = first_of(traced, o.runner, Verdict::kUnclear);
  if (unclear == nullptr) unclear = first_of(traced, o.runner, Verdict::kCannotTell);
  if (unclear == nullptr) o.verdict = Verdict::kRounding;
  o.note = unclear == nullptr ? "traced: each node is right on its own inputs"
                              : fmt::format("traced: '{}' is unclear; {}", unclear->output, o.note);
}

/// Rounding decides its shape, and did so in the second run as in this one.
bool is_decided_alike(const ArbiterVerdict& o, const ArbiterVerdict& same) {
  return o.verdict == Verdict::kUnclear && !o.problem.empty() && o.shape == same.shape &&
         o.dtype == same.dtype && o.max_error <= kSameSize * same.max_error;
}

/// It seems wrong, and no node makes an error; `same` is what the second run has of it.
void apply_to_wrong(ArbiterVerdict& o, const ArbiterVerdict& same, const Arbitration& traced) {
  if (is_decided_alike(o, same)) {
    o.verdict = Verdict::kRounding;
    o.problem.clear();
    o.note = "traced: each node is right on its own inputs, and rounding decides on this shape there, too";
    return;
  }
  if (!o.problem.empty() || same.max_error * kSameSize < o.max_error) {
    o.note =
        "traced: with every layer marked no node makes an error, so it is in what the backend fuses or "
        "leaves out";
    return;
  }
  const ArbiterVerdict* const open = first_open(traced, o.runner);
  o.verdict = open == nullptr ? Verdict::kRounding : Verdict::kOpen;
  o.note = open == nullptr
               ? "traced: no node makes an error, the network amplifies rounding to this"
               : fmt::format("traced: no node makes an error, but ONNX leaves '{}' open", open->output);
}

void apply_to(ArbiterVerdict& o, const Arbitration& traced) {
  const bool cannot_tell = o.verdict == Verdict::kCannotTell;
  if (o.verdict != Verdict::kWrong && o.verdict != Verdict::kUnclear && !cannot_tell) return;
  const auto same = std::ranges::find_if(
      traced.outputs, [&](const ArbiterVerdict& t) { return t.runner == o.runner && t.output == o.output; });
  if (same == traced.outputs.end()) return;
  if (o.basis == Basis::kNode) {
    // The other layers show what the backend computes in.
    if (cannot_tell && same->verdict != Verdict::kCannotTell) {
      o.verdict = same->verdict;
      o.note = "traced: so judged beside the other layers";
    }
    return;
  }
  if (const ArbiterVerdict* maker = first_maker(traced, o.runner); maker != nullptr && cannot_tell) {
    o.verdict = Verdict::kWrong;
    o.note = fmt::format("traced: node {} makes an error; {}", maker->node, o.note);
  }
  if (has_maker(traced, o.runner)) return;
  if (cannot_tell)
    apply_to_untold(o, traced);
  else
    apply_to_wrong(o, *same, traced);
}

}  // namespace

void apply_trace(Arbitration& result, Arbitration traced) {
  for (ArbiterVerdict& o : result.outputs) apply_to(o, traced);
  result.traced = std::make_shared<const Arbitration>(std::move(traced));
}

}  // namespace assay
