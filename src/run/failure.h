// What the log says when something went wrong and nobody could handle it.
#pragma once

namespace assay {

/// To be called in a catch block: logs the exception as critical, unless the log has shown it already.
/// Returns true for a failure that was foreseen and explained where it happened (log::LoggedError).
bool report_exception();

}  // namespace assay
