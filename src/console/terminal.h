// The log on a terminal: standard output, and standard error for critical messages. Only programs open it:
// the command line, and user programs that request it (run_main(), show_log()).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace assay {

namespace log {
class Output;
}

/// Starts writing the log's lines; a second call has no effect. On a terminal, unless NO_COLOR is set, lines
/// are coloured by severity. Lines are buffered until a START message, a critical one, a full buffer, or the
/// end of the process; a terminal gets each immediately.
void open_terminal_log();
/// From here on lines for a terminal are broken between words where they are wider than it. Nothing else is
/// changed: neither what a program reads, nor what print() shows.
void wrap_terminal_log();
/// A text for standard output or error, broken as lines of the log are.
std::string wrapped_for(int descriptor, std::string_view text);
/// Where those lines go.
log::Output& terminal_output();

/// Call it at the end of a program: flushes the buffer. Returns the exit status: `status`, or 1 in place of 0
/// if writing failed, which is reported on standard error.
int close_terminal_log(int status);

/// Columns that a line of text may have: COLUMNS, else those of the terminal; 0 (any number) where the output
/// is neither, but read by a program.
size_t text_columns();

}  // namespace assay
