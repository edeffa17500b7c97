#include "base/crash_report.h"

#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <new>
#include <string_view>

#include "assay/error.h"
#include "base/log.h"
#include "base/memory_limit.h"

namespace assay {
namespace {

struct SignalName {
  int number;
  std::string_view text;
};
constexpr std::array<SignalName, 5> kSignals = {{{SIGSEGV, "segmentation fault"},
                                                 {SIGBUS, "bus error"},
                                                 {SIGFPE, "arithmetic exception"},
                                                 {SIGILL, "illegal instruction"},
                                                 {SIGABRT, "abort"}}};

/// The texts of the newest note; a handler may read nothing else.
struct Texts {
  std::string_view doing, remedy;
};
Texts of_first_thread;  // for threads of a pool, which do not know what they work on
// Of the default TLS model: gold assigns wrong offsets to hidden initial-exec variables of a shared library
// that mixes both models. A program's variables have fixed offsets anyway, and those of a library loaded at
// startup exist before threads run, so a handler may read them.
constinit thread_local Texts of_thread;
constinit thread_local bool is_first_thread = false;
pid_t reporting_process = 0;

void set_texts(const Texts& texts) {
  of_thread = texts;
  if (is_first_thread) of_first_thread = texts;
}

const Texts& newest() { return of_thread.doing.empty() ? of_first_thread : of_thread; }

void on_crash(int number) {
  const Texts& texts = newest();
  if (!texts.doing.empty() && ::getpid() == reporting_process) {
    say_at_once("[!] ");
    say_at_once(texts.doing);
    say_at_once(" crashed");
    for (const SignalName& s : kSignals)
      if (s.number == number) say_at_once(" ("), say_at_once(s.text), say_at_once(")");
    say_at_once(". ");
    say_at_once(texts.remedy);
    say_at_once("\n");
  }
  // The handler is gone by SA_RESETHAND, so the signal ends the process.
  ::raise(number);
}

/// No caller expects a library to end the program, least of all with success.
void on_exit_of_others(int status, void*) {
  const Texts& texts = newest();
  if (texts.doing.empty() || ::getpid() != reporting_process) return;
  say_at_once("[!] ");
  say_at_once(texts.doing);
  say_at_once(" ended the program by exit(). It must return, or report an error.\n");
  if (status == 0) ::_exit(1);
}

}  // namespace

void say_at_once(std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(STDERR_FILENO, text.data(), text.size());
    if (n <= 0) return;
    text.remove_prefix(static_cast<size_t>(n));
  }
}

void report_crashes() {
  reporting_process = ::getpid();
  is_first_thread = true;
  // After a stack overflow the handler needs another stack.
  constexpr size_t kStackBytes = size_t{64} << 10;
  static std::array<char, kStackBytes> stack;
  const stack_t alternative = {.ss_sp = stack.data(), .ss_flags = 0, .ss_size = stack.size()};
  ::sigaltstack(&alternative, nullptr);
  struct sigaction action {};
  action.sa_handler = on_crash;
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  for (const SignalName& s : kSignals) ::sigaction(s.number, &action, nullptr);
  static const bool is_registered = ::on_exit(on_exit_of_others, nullptr) == 0;
  (void)is_registered;
}

namespace {

/// The sentence, as far as one is known.
void say_lost_exception() {
  try {
    if (const std::exception_ptr lost = std::current_exception()) std::rethrow_exception(lost);
    say_at_once("Internal error: the program was ended by std::terminate()");
  } catch (const std::bad_alloc&) {
    say_at_once(kOutOfMemory);
  } catch (const Error& e) {
    say_at_once(e.what());
  } catch (const std::exception& e) {
    say_at_once("Internal error: ");
    say_at_once(e.what());
  } catch (...) {
    say_at_once("Internal error: an exception of unknown type");
  }
}

bool is_out_of_memory() {
  try {
    if (const std::exception_ptr lost = std::current_exception()) std::rethrow_exception(lost);
  } catch (const std::bad_alloc&) {
    return true;
  } catch (...) {
  }
  return false;
}

/// Not by exit(): destructors would run in an undefined state. Crashes of foreign code are reported by the
/// signal handler, and a forked process stays silent.
[[noreturn]] void on_lost_exception() {
  std::set_terminate(std::abort);
  if (::getpid() != reporting_process || (!newest().doing.empty() && !is_out_of_memory())) std::abort();
  say_at_once("[!] ");
  say_lost_exception();
  say_at_once("\n");
  ::_exit(1);
}

}  // namespace

void report_lost_exceptions() { std::set_terminate(on_lost_exception); }

CrashMark::CrashMark(std::string_view doing, std::string_view remedy)
    : outer_doing_(of_thread.doing), outer_remedy_(of_thread.remedy) {
  set_texts({doing, remedy});
}

CrashMark::~CrashMark() { set_texts({outer_doing_, outer_remedy_}); }

CrashNote::CrashNote(const std::string& doing, const std::string& remedy)
    : doing_(doing), remedy_(remedy), mark_(doing_, remedy_) {
  log::flush();
}

}  // namespace assay
