// The log on a terminal: standard output, and standard error for critical messages. Only programs open it:
// the command line, and programs of the user's that ask for it (run_main(), show_log()).
#pragma once

namespace assay {

/// From now on the log's lines are written; a second call changes nothing. On a terminal, and unless NO_COLOR
/// is set, a line has the colour of its severity. Lines are held back until a START message, a critical one,
/// a full buffer, or the end of the process; a terminal gets each at once.
void open_terminal_log();

/// At the end of a program: hands what is held back to the system. Returns the exit status: `status`, or 1 in
/// the place of 0 where something could not be written, which standard error then says.
int close_terminal_log(int status);

}  // namespace assay
