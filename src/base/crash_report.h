// One sentence before the end when a signal such as SIGSEGV ends the program inside a library.
#pragma once

#include <string>
#include <string_view>

namespace assay {

/// Writes to stderr, unbuffered; a handler of signals may call it.
void say_at_once(std::string_view text);

/// From now on, what the newest CrashNote says goes to stderr when this process dies by SIGSEGV, SIGBUS,
/// SIGFPE, SIGILL or SIGABRT, which then ends it as before. Processes forked from this one stay silent: who
/// waits for them tells of their death.
void report_crashes();

/// What the program is doing while this lives, for report_crashes(). Not to be made by several threads at once.
class CrashNote {
 public:
  /// `doing` completes "... crashed", as in `ONNX-Runtime, while it ran the model a.onnx,`; `remedy` is a sentence.
  /// Hands what was logged to the system (log::flush()).
  CrashNote(const std::string& doing, const std::string& remedy);
  ~CrashNote();
  CrashNote(const CrashNote&) = delete;
  CrashNote& operator=(const CrashNote&) = delete;

 private:
  std::string doing_, remedy_;
  const CrashNote* outer_;
};

}  // namespace assay
