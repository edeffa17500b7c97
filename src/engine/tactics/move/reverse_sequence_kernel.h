// Steps of the tactic reverse_sequence: their parameters, and the kernel that runs them.
#pragma once

#include "engine/runtime/kernel.h"
#include "engine/runtime/step_reader.h"
#include "kernels/copy/reverse_sequence.h"

namespace assay::engine::tactic_reverse_sequence {

struct StepFields {
  bool by_sequence = false;  ///< the sequences are the first axis

  void fields(FieldVisitor& visit) { visit("by_sequence", by_sequence); }
};

/// Throws Error (kInvalidModel) for a step that the tactic cannot have proposed.
std::unique_ptr<Kernel> create(const Plan& plan, const Step& step);

}  // namespace assay::engine::tactic_reverse_sequence
