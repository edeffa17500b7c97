#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "run/observer.h"

namespace assay {

void VerdictCounts::add(const Arbitration& judged, int64_t iteration) {
  ++iterations;
  for (const ArbiterVerdict& o : judged.outputs) {
    ++of[static_cast<size_t>(o.verdict)];
    overflown += o.overflows + o.follows > 0;
  }
  if (!judged.any(Verdict::kWrong)) return;
  if (++wrong_iterations > 1) return;
  first_wrong = iteration;
  const Arbitration& told =
      judged.traced != nullptr && judged.traced->any(Verdict::kWrong) ? *judged.traced : judged;
  const auto first = std::find_if(told.outputs.begin(), told.outputs.end(),
                                  [](const ArbiterVerdict& o) { return o.verdict == Verdict::kWrong; });
  first_maker = first->basis == Basis::kNode ? fmt::format("{}, node {}", first->runner, first->node)
                                             : fmt::format("{}, output '{}'", first->runner, first->output);
}

int64_t VerdictCounts::judged() const { return std::accumulate(std::begin(of), std::end(of), int64_t{0}); }

bool RunReport::matched() const {
  return std::all_of(pairs.begin(), pairs.end(), [&](const PairSummary& p) { return p.passed(aggregation); });
}

}  // namespace assay
