// Functions of one tensor of 8 bits, by a table of their 256 results.
#include "engine/tactics/pointwise/lookup_kernel.h"
#include "engine/tactics/pointwise/lookup_table.h"
#include "engine/tactics/tactic_list.h"

namespace assay::engine::tactic_lookup {
namespace {

constexpr std::string_view kOperators[] = {"assay.Lookup"};

std::string propose(const Problem& p, Proposals& proposals) {
  const Shape* out = p.output_shape(0);
  if (out == nullptr) return "the shape is not known before the run";
  const TableEntries table = entries_of(lookup_table(p.node(), p.model()));
  for (const Layout layout : p.layouts(p.output_dtype(0), *out)) {
    Candidate& b = proposals.add(layout.str(), NumericsClass::kExact);
    b.add_input(p.node().input(0), layout);
    b.add_output(p.node().output(0), layout);
    if (p.input_dtype(0) == p.output_dtype(0)) b.step.in_place.emplace_back(0, 0);
    b.write(StepFields{.table = table});
    b.estimate =
        estimate_seconds(static_cast<double>(out->numel()), 2.0 * static_cast<double>(out->numel()), 0.5);
  }
  return {};
}

}  // namespace

constinit const TacticDef def = {
    .name = "lookup",
    .summary = "functions of one tensor of 8 bits, by a table of their 256 results",
    .operators = kOperators,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_lookup
