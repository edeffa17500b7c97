// The commands that cut a node that errs out of its model, with what it was given.
#pragma once

#include <string>

#include "assay/arbiter.h"

namespace assay {

/// The command that makes a model of the node alone: of the one around it where it is in a body. Empty where
/// there is none.
std::string extract_command(const ArbiterVerdict& verdict, const RunFiles& files);

/// How to get the file of inputs with which that model shows the error, as `--load-inputs FILE` or a command
/// that makes it.
std::string inputs_command(const ArbiterVerdict& verdict, const RunFiles& files);

}  // namespace assay
