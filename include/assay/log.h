// The log of the library, for programs that have one of their own.
#pragma once

#include <functional>
#include <string>

#include "assay/api.h"

namespace ASSAY_API assay {

/// Receives a message: its severity (10 verbose, 20 info, 22 start, 28 finish, 30 warning, 40 error, 50
/// critical) and its text without prefix or colour, indented by four blanks for each level. Called from any
/// thread, also from several at once. Must not throw.
using LogSink = std::function<void(int severity, const std::string& text)>;

/// From now on messages of at least this severity go to the sink; null: nowhere, as at first. It belongs to
/// the process.
void set_log_sink(LogSink sink, int threshold = 20);

/// Has messages of at least this severity written to standard output, critical ones to standard error, as
/// the program does, with its remedies in the words of the library. By itself the library writes to neither.
void show_log(int threshold = 20);

}  // namespace assay
