// What the log says when something went wrong and nobody could handle it.
#pragma once

namespace assay {

/// To be called in a catch block: logs the exception as critical, unless the log has shown it already
/// (log::LoggedError). Returns true for a failure that was foreseen (ExpectedError).
bool report_exception();

}  // namespace assay
