#include "base/crash_note.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstring>

#include "base/log.h"

namespace assay {
namespace {

constexpr std::array kSignals = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
std::atomic<const CrashNote*> current = nullptr;
std::atomic<bool> leaves_alone = false;
std::array<struct sigaction, kSignals.size()> earlier;

const char* name_of(int signal) {
  switch (signal) {
    case SIGSEGV:
      return "segmentation fault";
    case SIGBUS:
      return "bus error";
    case SIGILL:
      return "illegal instruction";
    case SIGFPE:
      return "arithmetic exception";
    default:
      return "abort";
  }
}

void put(const char* text, size_t size) {
  while (size > 0) {
    const ssize_t n = ::write(STDERR_FILENO, text, size);
    if (n <= 0) return;
    text += n;
    size -= static_cast<size_t>(n);
  }
}

}  // namespace

/// Only what a signal handler may do.
void report_crash(int signal) {
  const CrashNote* note = current.exchange(nullptr);
  if (note == nullptr) return;  // another thread is at it
  const char* name = name_of(signal);
  put(note->before_.data(), note->before_.size());
  put(name, std::strlen(name));
  put(note->after_.data(), note->after_.size());
  ::_exit(1);
}

CrashNote::CrashNote(std::string what, std::string remedy)
    : before_("[!] " + std::move(what) + ": it crashed ("), after_("). " + std::move(remedy) + "\n") {
  if (leaves_alone) return;
  log::flush();
  outer_ = current.exchange(this);
  if (outer_ != nullptr) return;
  struct sigaction action {};
  action.sa_handler = report_crash;
  for (size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &action, &earlier[i]);
}

void leave_crashes_alone() { leaves_alone = true; }

CrashNote::~CrashNote() {
  if (leaves_alone) return;
  current = outer_;
  if (outer_ != nullptr) return;
  for (size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &earlier[i], nullptr);
}

}  // namespace assay
