// CumSum and CumProd along a constant axis.
#include "engine/tactics/reduce/running_sum_kernel.h"
#include "engine/tactics/tactic_list.h"
#include "graph/read.h"

namespace assay::engine::tactic_running_sum {
namespace {

constexpr std::string_view kOperators[] = {"CumSum", "CumProd"};

std::string propose(const Problem& p, Proposals& proposals) {
  const Shape* in = p.input_shape(0);
  if (in == nullptr) return "the shape is not known before the run";
  if (!kernels::is_running_number(p.input_dtype(0)))
    return fmt::format("{} is not summed", dtype_name(p.input_dtype(0)));
  if (in->rank() == 0) return "a single number has no axis";
  const UnalignedTensor* axis = p.input_constant(1);
  if (axis == nullptr || axis->numel() != 1) return "the axis is not constant";
  const Node& n = p.node();
  Candidate& b = proposals.add({}, NumericsClass::kReassociated);
  b.add_input(n.input(0));
  b.add_output(n.output(0));
  b.write(StepFields{.axis = axis_field(axis->aligned().to_int64()[0], *in),
                     .rule = {.product = n.op_type == "CumProd",
                              .exclusive = int_attribute(n, "exclusive", 0) != 0,
                              .reverse = int_attribute(n, "reverse", 0) != 0}});
  b.estimate =
      estimate_seconds(0, 2.0 * static_cast<double>(storage_bytes(p.input_dtype(0), in->numel())), 1);
  return {};
}

}  // namespace

constinit const TacticDef def = {
    .name = "running_sum",
    .summary = "running sums and products along an axis",
    .operators = kOperators,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_running_sum
