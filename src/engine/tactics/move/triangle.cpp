// Trilu with a constant diagonal.
#include "engine/tactics/move/triangle_kernel.h"
#include "engine/tactics/tactic_list.h"
#include "graph/read.h"

namespace assay::engine::tactic_triangle {
namespace {

constexpr std::string_view kOperators[] = {"Trilu"};

std::string propose(const Problem& p, Proposals& proposals) {
  const Shape* in = p.input_shape(0);
  if (in == nullptr) return "the shape is not known before the run";
  if (bit_width(p.input_dtype(0)) < 8) return "elements that are not whole bytes cannot be copied";
  if (in->rank() < 2) return "it is no matrix";
  int64_t k = 0;
  if (p.input_count() > 1 && p.has_input(1)) {
    const UnalignedTensor* given = p.input_constant(1);
    if (given == nullptr || given->numel() != 1) return "the diagonal is not constant";
    k = given->aligned().to_int64()[0];
  }
  Candidate& b = proposals.add({}, NumericsClass::kExact);
  b.add_input(p.node().input(0));
  b.add_output(p.node().output(0));
  b.write(StepFields{.k = k, .upper = int_attribute(p.node(), "upper", 1) != 0});
  b.estimate =
      estimate_seconds(0, 2.0 * static_cast<double>(storage_bytes(p.input_dtype(0), in->numel())), 1);
  return {};
}

}  // namespace

constinit const TacticDef def = {
    .name = "triangle",
    .summary = "upper and lower triangles of matrices",
    .operators = kOperators,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_triangle
