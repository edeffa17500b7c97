// Evaluations as lines.
#pragma once

#include <string>

#include "eval/evaluation.h"

namespace assay::cli {

/// A table of the metrics, the bad samples, the worst ones and what was judged.
std::string evaluation_text(const eval::Evaluation& evaluation);
/// The command that evaluates only these samples of the same evaluation.
std::string evaluation_command(const eval::Evaluation& evaluation, const eval::Ranges& only);

}  // namespace assay::cli
