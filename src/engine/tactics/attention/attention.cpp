// Attention in one pass over blocks of rows: the scores of all rows are never in memory, and queries, keys,
// values and the result are read and written in place, in any order of axes.
#include <algorithm>

#include "engine/tactics/attention/attention_form.h"
#include "engine/tactics/attention/attention_kernel.h"
#include "engine/tactics/tactic_list.h"
#include "passes/region.h"

namespace assay::engine::tactic_attention {
namespace {

constexpr std::string_view kOperators[] = {"Softmax", "assay.Softmax"};

std::string propose(const Problem& problem, Proposals& proposals) {
  if (problem.region().kind != RegionKind::kAttention) return "it runs a softmax between two products";
  const AttentionForm& form = *problem.region().attention;
  const Attention& a = form.problem;
  if (a.masks.size() > kMaxMasks) return "it has more than 16 masks";
  Candidate& b = proposals.add({}, NumericsClass::kReassociated);
  for (const AttentionOperand& o : {form.query, form.key, form.value}) b.add_input(o.value);
  for (const Value* mask : form.masks) b.add_input(mask);
  b.add_output(problem.region().output());
  b.write(StepFields{.a = a, .offsets = {form.query.offset, form.key.offset, form.value.offset}});
  b.step.scratch_bytes = kernels::attention_scratch(a, problem.config().threads);
  const auto pairs = static_cast<double>(a.batch * a.heads * a.queries) * static_cast<double>(a.keys);
  // An exponential and its kin take as long as some 16 multiplications.
  b.estimate =
      estimate_seconds(pairs * (2.0 * static_cast<double>(a.size + a.value_size) + 32),
                       4.0 * static_cast<double>(a.batch * a.groups * a.keys * (a.size + a.value_size)), 0.8);
  return {};
}

}  // namespace

constinit const TacticDef def = {
    .name = "attention",
    .summary = "softmax(queries keys^T) values in one pass, with scale and masks",
    .version = 5,
    .operators = kOperators,
    .takes_regions = true,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_attention
