// Writing of epilogues of convolutions and matrix products into steps.
#pragma once

#include "engine/tactics/epilogue_kernel.h"
#include "engine/tactics/tactic.h"

namespace assay::engine {

/// The spec of a problem. Operands follow `inputs` other step inputs; whole ones must be in `layout`.
EpilogueSpec epilogue_spec(const Problem& p, const std::vector<EpilogueStep>& epilogue, Layout layout,
                           size_t inputs);

/// Writes it down: parameters, operands as inputs, and that additions may be done in an operand's memory.
void write_epilogue(const std::vector<EpilogueStep>& epilogue, const EpilogueSpec& spec, Candidate& b);

/// Empty when RowEpilogue supports the steps; else a sentence with the reason.
std::string row_epilogue_refusal(const Problem& p, const std::vector<EpilogueStep>& epilogue);

/// Writes down the spec of a RowEpilogue whose operands follow `inputs` other step inputs.
void write_row_epilogue(const Problem& p, const std::vector<EpilogueStep>& epilogue, size_t inputs,
                        Candidate& b);

}  // namespace assay::engine
