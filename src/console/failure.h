// Logs failures that were not handled.
#pragma once

namespace assay {

/// Call it in a catch block: logs the exception as critical, unless it was already logged (log::LoggedError).
/// Returns true for an expected failure (ExpectedError).
bool report_exception();

}  // namespace assay
