// Concatenates files of inputs, or of results.
#pragma once

#include <span>
#include <string>

#include "run/results.h"

namespace assay {

/// The iterations of all files, and of all files of a folder, one after the other; results by runner: a
/// runner of the same name is continued, also if names differ only in their time and the file has equally
/// many runners. Warns where an iteration has other tensors than the first. Throws Error
/// (kInvalidArgument) when inputs and results are mixed, and for files that cannot be read.
ResultsOrInputs concat_iterations(std::span<const std::string> paths);

}  // namespace assay
