// Transpose from blocks of channels to row-major memory, or the other way round: where channels become the
// last axis, or the last axis channels, whole blocks stay together.
#include <algorithm>

#include "analysis/match.h"
#include "engine/tactics/move/blocked_transpose_kernel.h"
#include "engine/tactics/tactic_list.h"

namespace assay::engine::tactic_blocked_transpose {
namespace {

constexpr std::string_view kOperators[] = {"Transpose"};

std::string supports(const Problem& p) {
  if (p.input_shape(0) == nullptr || p.output_shape(0) == nullptr)
    return "the shape is not known before the run";
  if (p.input_dtype(0) != DType::kFloat32) return "only float32 lies in blocks of channels";
  return {};
}

std::string propose(const Problem& p, Proposals& proposals) {
  if (std::string reason = supports(p); !reason.empty()) return reason;
  const Shape &in = *p.input_shape(0), &out = *p.output_shape(0);
  std::vector<int64_t> perm = ints_attribute(p.node(), "perm");
  for (int64_t axis = in.rank(); perm.size() < in.size();) perm.push_back(--axis);
  const auto add = [&](Layout from, Layout to) {
    Candidate& b = proposals.add(from.str() + " to " + to.str(), NumericsClass::kExact);
    b.add_input(p.node().input(0), from);
    b.add_output(p.node().output(0), to);
    b.write(StepFields{.perm = perm});
    b.estimate = estimate_seconds(0, 8.0 * static_cast<double>(in.numel()), 1);
  };
  for (const Layout layout : p.layouts(DType::kFloat32, in)) {
    if (!layout.is_blocked()) continue;
    if (in[1] % layout.block == 0) add(layout, {});
    if (out[1] % layout.block == 0) add({}, layout);
  }
  return proposals.candidates().empty() ? "no axis of channels fills its blocks" : "";
}

}  // namespace

constinit const TacticDef def = {
    .name = "blocked_transpose",
    .summary = "Transpose between blocks of channels and row-major memory",
    .operators = kOperators,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_blocked_transpose
