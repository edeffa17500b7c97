// Merges files of inputs and results into one file of inputs.
#pragma once

#include <span>
#include <string>

#include "run/results.h"

namespace assay {

/// For each iteration the tensors of all files, and within a file of all runners, in the order in which their
/// names first occur; the last of tensors with one name is used. A different number of iterations in a file
/// gives a warning, and its missing iterations have only the tensors of other files.
/// Throws Error for a file that cannot be read.
InputData merge_inputs(std::span<const std::string> paths);

}  // namespace assay
