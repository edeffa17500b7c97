// GatherElements, GatherND, ScatterElements and ScatterND: elements and slices that indices point to.
#include <algorithm>
#include <cstring>

#include "engine/tactics/move/indexed_kernel.h"
#include "engine/tactics/tactic_list.h"
#include "graph/read.h"

namespace assay::engine::tactic_indexed {
namespace {

/// A list: each is computed in a way of its own below.
constexpr std::string_view kOperators[] = {"GatherElements", "GatherND", "Scatter", "ScatterElements",
                                           "ScatterND"};

bool is_nd(const Node& n) { return n.op_type.ends_with("ND"); }

/// Of slices, which need not have the shapes that inference sees: those of the runs that a plan serves.
bool fits(const Problem& p) {
  if (!is_nd(p.node()) || !scatters(p.node())) return true;
  const Shape &data = *p.input_shape(0), &index = *p.input_shape(1);
  if (index.empty() || index.back() < 0 || index.back() > data.rank()) return false;
  Shape wanted(std::vector<int64_t>(index.begin(), index.end() - 1));
  for (auto d = static_cast<size_t>(index.back()); d < data.size(); ++d) wanted.push_back(data[d]);
  return *p.input_shape(2) == wanted;
}

std::string supports(const Problem& p) {
  for (size_t i = 0; i < p.input_count(); ++i)
    if (p.input_shape(i) == nullptr) return "the shape is not known before the run";
  if (p.output_shape(0) == nullptr) return "the shape is not known before the run";
  if (bit_width(p.input_dtype(0)) < 8) return "elements that are not whole bytes cannot be copied";
  const std::string_view reduction = string_attribute(p.node(), "reduction", "none");
  if (std::find(std::begin(kReductions), std::end(kReductions), reduction) == std::end(kReductions))
    return fmt::format("'{}' is no reduction", reduction);
  if (reduction != "none" && !kernels::is_combined(p.input_dtype(0)))
    return fmt::format("{} is not combined", dtype_name(p.input_dtype(0)));
  return fits(p) ? "" : "the plain evaluation says which shapes do not fit";
}

std::string propose(const Problem& p, Proposals& proposals) {
  if (std::string reason = supports(p); !reason.empty()) return reason;
  const Node& n = p.node();
  Candidate& b = proposals.add(is_nd(n) ? "slices" : "elements", NumericsClass::kExact);
  for (const Value* v : n.inputs()) b.add_input(v);
  b.add_output(n.output(0));
  StepFields fields{.scatters = scatters(n)};
  if (is_nd(n))
    fields.batch_dims = int_attribute(n, "batch_dims", 0);
  else
    fields.axis = normalize_axis(int_attribute(n, "axis", 0), p.input_shape(0)->rank());
  if (fields.scatters) {
    const auto at = std::ranges::find(kReductions, string_attribute(n, "reduction", "none"));
    fields.reduction = static_cast<ScatterReduction>(at - std::begin(kReductions));
    if (n.input(0) != n.input(1) && n.input(0) != n.input(2)) b.step.in_place.emplace_back(0, 0);
  }
  b.write(fields);
  b.estimate = estimate_seconds(
      0, 8.0 * static_cast<double>(p.output_shape(0)->numel() + p.input_shape(1)->numel()), 1);
  return {};
}

}  // namespace

constinit const TacticDef def = {
    .name = "indexed",
    .summary = "elements and slices that indices point to, taken or brought there",
    .operators = kOperators,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_indexed
