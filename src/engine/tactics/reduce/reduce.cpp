// Reductions over adjacent axes through a vector kernel.
#include <algorithm>

#include "analysis/match.h"
#include "engine/tactics/reduce/reduce_kernel.h"
#include "engine/tactics/tactic_list.h"
#include "ops/node_facts.h"

namespace assay::engine::tactic_reduce {
namespace {

bool serves(const OpFacts& facts) { return facts.reduction.kernel.has_value(); }

/// The reduced axes, sorted; nothing when they are not known.
std::optional<std::vector<int64_t>> axes_of(const Problem& p) {
  if (p.node().op_type == "GlobalAveragePool") {
    std::vector<int64_t> spatial;
    for (int a = 2; a < p.input_shape(0)->rank(); ++a) spatial.push_back(a);
    return spatial;
  }
  std::optional<std::vector<int64_t>> axes = ints_parameter(p.node(), "axes", 1);
  if (!axes) return std::nullopt;
  const int rank = p.input_shape(0)->rank();
  if (axes->empty() && int_attribute(p.node(), "noop_with_empty_axes", 0) != 0) return std::nullopt;
  if (axes->empty())
    for (int a = 0; a < rank; ++a) axes->push_back(a);
  for (int64_t& a : *axes) a = normalize_axis(a, rank);
  std::sort(axes->begin(), axes->end());
  return axes;
}

std::string supports(const Problem& p) {
  const Shape* shape = p.input_shape(0);
  if (shape == nullptr || p.output_shape(0) == nullptr) return "the shape is not known before the run";
  if (p.input_dtype(0) != DType::kFloat32) return "the input is not float32";
  if (shape->numel() == 0) return "the input is empty";
  const auto axes = axes_of(p);
  if (!axes) return "the axes are not known before the run";
  // Axes of extent 1 do not matter.
  int64_t first = -1, last = -1;
  for (const int64_t a : *axes) {
    if ((*shape)[static_cast<size_t>(a)] == 1) continue;
    if (first < 0) first = a;
    for (int64_t between = last + 1; last >= 0 && between < a; ++between)
      if ((*shape)[static_cast<size_t>(between)] != 1) return "the reduced axes are not adjacent";
    last = a;
  }
  return {};
}

std::string propose(const Problem& p, Proposals& proposals) {
  if (std::string reason = supports(p); !reason.empty()) return reason;
  Candidate& b = proposals.add({}, NumericsClass::kReassociated);
  const Shape& shape = *p.input_shape(0);
  StepFields fields;
  const std::vector<int64_t> axes = *axes_of(p);
  for (int64_t a = 0; a < shape.rank(); ++a) {
    const int64_t extent = shape[static_cast<size_t>(a)];
    const bool reduced = std::find(axes.begin(), axes.end(), a) != axes.end();
    if (reduced)
      fields.count *= extent;
    else if (fields.count == 1)
      fields.outer *= extent;
    else
      fields.inner *= extent;
  }
  b.add_input(p.node().input(0));
  b.add_output(p.node().output(0));
  fields.kind = *facts_of(p.node(), p.model()).reduction.kernel;
  b.write(fields);
  return {};
}

}  // namespace

constinit const TacticDef def = {
    .name = "reduce",
    .summary = "sums, means and extremes along axes",
    .serves = serves,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_reduce
