// Several files of inputs and results made into one file of inputs.
#pragma once

#include <span>
#include <string>

#include "run/results.h"

namespace assay {

/// For each iteration the tensors of all files, and within a file of all runners, in the order in which their
/// names first occur; of tensors of one name the last is taken. Where a file has more or fewer iterations
/// than those before it, a warning says so, and the iterations that it lacks hold only what the others have.
/// Throws Error for a file that cannot be read.
InputData merge_inputs(std::span<const std::string> paths);

}  // namespace assay
