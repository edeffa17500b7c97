// Redirects the library's log, for programs with a log of their own.
#pragma once

#include <functional>
#include <string>

#include "assay/api.h"

namespace ASSAY_API assay {

/// Receives a message: its severity (10 verbose, 20 info, 22 start, 28 finish, 30 warning, 40 error, 50
/// critical) and its text without prefix or colour, indented by four blanks for each level. May be called
/// from several threads concurrently. Must not throw.
using LogSink = std::function<void(int severity, const std::string& text)>;

/// From now on messages of at least this severity go to the sink; null: nowhere, the default. The setting is
/// process-wide.
void set_log_sink(LogSink sink, int threshold = 20);

/// Writes messages of at least this severity to standard output, critical ones to standard error, as the
/// program does, with remedies in the library's words. By default the library writes to neither.
void show_log(int threshold = 20);

}  // namespace assay
