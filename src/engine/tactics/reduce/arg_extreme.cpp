// ArgMax and ArgMin: the position of the best element along an axis.
#include "engine/tactics/reduce/arg_extreme_kernel.h"
#include "engine/tactics/tactic_list.h"
#include "graph/read.h"

namespace assay::engine::tactic_arg_extreme {
namespace {

constexpr std::string_view kOperators[] = {"ArgMax", "ArgMin"};

std::string propose(const Problem& p, Proposals& proposals) {
  const Shape *in = p.input_shape(0), *out = p.output_shape(0);
  if (in == nullptr || out == nullptr) return "the shape is not known before the run";
  if (!kernels::is_number(p.input_dtype(0)))
    return fmt::format("{} is not searched", dtype_name(p.input_dtype(0)));
  if (in->rank() == 0 || in->numel() == 0) return "there is no line of elements";
  const Node& n = p.node();
  Candidate& b = proposals.add({}, NumericsClass::kExact);
  b.add_input(n.input(0));
  b.add_output(n.output(0));
  b.write(StepFields{
      .axis = axis_field(int_attribute(n, "axis", 0), *in),
      .rule = {.largest = n.op_type == "ArgMax", .last = int_attribute(n, "select_last_index", 0) != 0}});
  b.estimate = estimate_seconds(0, static_cast<double>(storage_bytes(p.input_dtype(0), in->numel())), 1);
  return {};
}

}  // namespace

constinit const TacticDef def = {
    .name = "arg_extreme",
    .summary = "where along an axis the largest or smallest element stands",
    .operators = kOperators,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_arg_extreme
