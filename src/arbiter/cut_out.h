// Commands that extract a node in error from its model, with its inputs.
#pragma once

#include <string>

#include "assay/arbiter.h"

namespace assay {

/// The command that extracts the node as a model, or the enclosing node if it is in a body. Empty if there is
/// none.
std::string extract_command(const ArbiterVerdict& verdict, const RunFiles& files);

/// How to get the inputs that reproduce the error in that model: `--load-inputs FILE`, or a command that
/// creates the file.
std::string inputs_command(const ArbiterVerdict& verdict, const RunFiles& files);

}  // namespace assay
