// The first and last lines of a run.
#pragma once

#include <string>

namespace assay {

/// `RUNNING | Command: ...`.
void print_begin(const std::string& command);
/// `PASSED | Runtime: 0.123s | Command: ...`, or the result for the exit status in its place.
void print_end(int status, double seconds, const std::string& command);

}  // namespace assay
