// One sentence before the end when a signal such as SIGSEGV ends the program inside a library.
#pragma once

#include <string>
#include <string_view>

namespace assay {

/// Writes to stderr, unbuffered; a handler of signals may call it.
void say_at_once(std::string_view text);

/// Enables reports: when this process dies by SIGSEGV, SIGBUS, SIGFPE, SIGILL or SIGABRT, the newest note of
/// the crashing thread, or else of the calling thread of this function, is written to stderr, and the signal
/// then ends the process as before. The same happens when exit() is called while there is a note; the exit
/// status is then not 0. (_exit() cannot be caught.) Forked processes stay silent: their parent reports their
/// death.
void report_crashes();

/// After report_crashes(): an unhandled exception (failed allocation in a noexcept function, an exception
/// that leaves a thread) ends this process with one sentence and exit status 1. Allocates nothing. If there
/// is a note, and memory is not the reason, it is an ordinary crash. For programs; a library's host has its
/// own handlers.
void report_lost_exceptions();

/// Notes for its lifetime what this thread is doing, for report_crashes(). Its cost is negligible.
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

/// A mark with its own texts. Flushes the log (log::flush()).
class CrashNote {
 public:
  CrashNote(const std::string& doing, const std::string& remedy);

 private:
  std::string doing_, remedy_;
  CrashMark mark_;
};

}  // namespace assay
