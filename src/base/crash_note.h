// Last words for when foreign code in this process crashes.
#pragma once

#include <string>

namespace assay {

/// While it lives, a signal that tells of a crash (a segmentation fault, a bus error, an illegal instruction, abort())
/// ends the process with the error "[!] WHAT: it crashed (SIGNAL). REMEDY" and exit status 1, whichever thread
/// crashes. What is logged before is written when it is made. One at a time; an inner one stands in for the outer.
class CrashNote {
 public:
  CrashNote(std::string what, std::string remedy);
  ~CrashNote();
  CrashNote(const CrashNote&) = delete;
  CrashNote& operator=(const CrashNote&) = delete;

 private:
  std::string before_, after_;
  const CrashNote* outer_ = nullptr;
  friend void report_crash(int signal);
};

/// From now on crashes end this process as they did before: for one whose parent looks at how it ended.
void leave_crashes_alone();

}  // namespace assay
