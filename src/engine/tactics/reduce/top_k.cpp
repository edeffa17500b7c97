// TopK: the best elements of each line, in order.
#include "engine/tactics/reduce/top_k_kernel.h"
#include "engine/tactics/tactic_list.h"
#include "graph/read.h"

namespace assay::engine::tactic_top_k {
namespace {

constexpr std::string_view kOperators[] = {"TopK"};

std::string propose(const Problem& p, Proposals& proposals) {
  const Node& n = p.node();
  const Shape *in = p.input_shape(0), *out = p.output_shape(0);
  if (in == nullptr || out == nullptr) return "the shape is not known before the run";
  if (!kernels::is_number(p.input_dtype(0)))
    return fmt::format("{} is not searched", dtype_name(p.input_dtype(0)));
  if (in->rank() == 0) return "a single number has no axis";
  if ((*in)[static_cast<size_t>(normalize_axis(int_attribute(n, "axis", -1), in->rank()))] >
      kernels::kMaxOfTopK)
    return "the lines are too long";
  Candidate& b = proposals.add({}, NumericsClass::kExact);
  b.write(StepFields{.axis = axis_field(int_attribute(n, "axis", -1), *in),
                     .largest = int_attribute(n, "largest", 1) != 0});
  b.add_input(n.input(0));
  for (size_t i = 0; i < 2; ++i) b.add_output(n.output(i));
  b.estimate =
      estimate_seconds(20.0 * static_cast<double>(out->numel()),
                       2.0 * static_cast<double>(storage_bytes(p.input_dtype(0), in->numel())), 0.05);
  return {};
}

}  // namespace

constinit const TacticDef def = {
    .name = "top_k",
    .summary = "the largest or smallest elements of each line, in order",
    .operators = kOperators,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_top_k
