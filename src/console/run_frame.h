// The lines with which a run begins and ends.
#pragma once

#include <string>

namespace assay {

/// `RUNNING | Command: ...`.
void print_begin(const std::string& command);
/// `PASSED | Runtime: 0.123s | Command: ...`, or what the exit status says in its place.
void print_end(int status, double seconds, const std::string& command);

}  // namespace assay
