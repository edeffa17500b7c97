// One sentence before the end when a signal such as SIGSEGV ends the program inside a library.
#pragma once

#include <string>
#include <string_view>

namespace assay {

/// Writes to stderr, unbuffered; a handler of signals may call it.
void say_at_once(std::string_view text);

/// From now on, what the crashing thread's newest note says, or else that of the thread which called this,
/// goes to stderr when this process dies by SIGSEGV, SIGBUS, SIGFPE, SIGILL or SIGABRT, which then ends it as
/// before; and when it calls exit() while there is a note: then the exit status is not 0. (Nothing can be
/// said when it calls _exit().) Processes forked from this one stay silent: who waits for them tells of their
/// death.
void report_crashes();

/// After report_crashes(): from now on an exception that nobody can handle (memory that is refused within a
/// function that must not throw, an exception that leaves a thread) ends this process with one sentence and
/// exit status 1. Takes no memory. Where there is a note, and memory is not the reason, it is a crash as any
/// other. For programs; a library's host has handlers of its own.
void report_lost_exceptions();

/// What this thread is doing while this lives, for report_crashes(). Costs nothing worth mentioning.
class CrashMark {
 public:
  /// `doing` completes "... crashed", as in `ONNX-Runtime, while it ran the model a.onnx,`; `remedy` is a
  /// sentence. Both must live as long as this.
  CrashMark(std::string_view doing, std::string_view remedy);
  ~CrashMark();
  CrashMark(const CrashMark&) = delete;
  CrashMark& operator=(const CrashMark&) = delete;

 private:
  std::string_view outer_doing_, outer_remedy_;
};

/// A mark with texts of its own. Hands what was logged to the system (log::flush()).
class CrashNote {
 public:
  CrashNote(const std::string& doing, const std::string& remedy);

 private:
  std::string doing_, remedy_;
  CrashMark mark_;
};

}  // namespace assay
