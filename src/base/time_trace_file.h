// The file in which a child process leaves what it did, for the process that records.
#pragma once

#include <optional>
#include <string>

#include "base/time_trace_record.h"

namespace assay::trace {

/// A failure leaves no file.
void write_part(const std::string& path, const Process& process);
/// Nothing for a file that is damaged, or of another version.
std::optional<Process> read_part(const std::string& path);

}  // namespace assay::trace
