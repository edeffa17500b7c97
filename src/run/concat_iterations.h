// Several files of inputs, or of results, made into one longer one.
#pragma once

#include <span>
#include <string>

#include "run/results.h"

namespace assay {

/// The iterations of all files, and of all files of a folder, one after the other; of results by runner: a
/// runner of the same name goes on, where the names differ in nothing but the time in them and the file has
/// as many runners, too. Warns where an iteration has other tensors than the first. Throws Error
/// (kInvalidArgument) when inputs and results are mixed, and for files that cannot be read.
ResultsOrInputs concat_iterations(std::span<const std::string> paths);

}  // namespace assay
