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

}  // namespace

void apply_trace(Arbitration& result, Arbitration traced) {
  const auto runner_has_maker = [&](const std::string& runner) {
    return std::any_of(traced.outputs.begin(), traced.outputs.end(), [&](const ArbiterVerdict& o) {
      return o.runner == runner && (o.verdict == Verdict::kWrong || o.verdict == Verdict::kNotJudged);
    });
  };
  for (ArbiterVerdict& o : result.outputs) {
    const bool cannot_tell = o.verdict == Verdict::kCannotTell;
    if (o.verdict != Verdict::kWrong && o.verdict != Verdict::kUnclear && !cannot_tell) continue;
    const auto same =
        std::find_if(traced.outputs.begin(), traced.outputs.end(),
                     [&](const ArbiterVerdict& t) { return t.runner == o.runner && t.output == o.output; });
    if (same == traced.outputs.end() || o.basis == Basis::kNode) continue;
    if (const ArbiterVerdict* maker = first_maker(traced, o.runner); maker != nullptr && cannot_tell) {
      o.verdict = Verdict::kWrong;
      o.note = fmt::format("traced: node {} makes an error; {}", maker->node, o.note);
    }
    if (runner_has_maker(o.runner)) continue;
    if (cannot_tell) {
      const ArbiterVerdict* unclear = first_of(traced, o.runner, Verdict::kUnclear);
      if (unclear == nullptr) unclear = first_of(traced, o.runner, Verdict::kCannotTell);
      if (unclear == nullptr) o.verdict = Verdict::kRounding;
      o.note = unclear == nullptr ? "traced: each node is right on its own inputs"
                                  : fmt::format("traced: '{}' is unclear; {}", unclear->output, o.note);
      continue;
    }
    if (o.problem.empty() && same->max_error * kSameSize >= o.max_error) {
      const ArbiterVerdict* const open = first_open(traced, o.runner);
      o.verdict = open == nullptr ? Verdict::kRounding : Verdict::kOpen;
      o.note = open == nullptr
                   ? "traced: no node makes an error, the network amplifies rounding to this"
                   : fmt::format("traced: no node makes an error, but ONNX leaves '{}' open", open->output);
    } else {
      o.note =
          "traced: with every layer marked no node makes an error, so it is in what the backend fuses or "
          "leaves out";
    }
  }
  result.traced = std::make_shared<const Arbitration>(std::move(traced));
}

}  // namespace assay
