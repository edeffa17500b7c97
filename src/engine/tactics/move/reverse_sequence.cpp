// ReverseSequence: the first elements of each sequence backwards.
#include "engine/tactics/move/reverse_sequence_kernel.h"
#include "engine/tactics/tactic_list.h"
#include "graph/read.h"

namespace assay::engine::tactic_reverse_sequence {
namespace {

constexpr std::string_view kOperators[] = {"ReverseSequence"};

std::string propose(const Problem& p, Proposals& proposals) {
  const Shape *in = p.input_shape(0), *lengths = p.input_shape(1);
  if (in == nullptr || lengths == nullptr) return "the shape is not known before the run";
  if (bit_width(p.input_dtype(0)) < 8) return "elements that are not whole bytes cannot be copied";
  const int64_t time = int_attribute(p.node(), "time_axis", 0),
                batch = int_attribute(p.node(), "batch_axis", 1);
  if (in->rank() < 2 || time + batch != 1 || time * batch != 0 ||
      lengths->numel() != (*in)[static_cast<size_t>(batch)])
    return "its axes are not the first two, or the lengths are not one for each sequence";
  Candidate& b = proposals.add({}, NumericsClass::kExact);
  b.add_input(p.node().input(0));
  b.add_input(p.node().input(1));
  b.add_output(p.node().output(0));
  b.write(StepFields{.by_sequence = batch == 0});
  b.estimate =
      estimate_seconds(0, 2.0 * static_cast<double>(storage_bytes(p.input_dtype(0), in->numel())), 1);
  return {};
}

}  // namespace

constinit const TacticDef def = {
    .name = "reverse_sequence",
    .summary = "the first elements of each sequence backwards",
    .operators = kOperators,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_reverse_sequence
