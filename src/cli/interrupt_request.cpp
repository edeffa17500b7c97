#include "cli/interrupt_request.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <string_view>

namespace assay::cli {
namespace {

constexpr std::string_view kTold =
    "\nInterrupted: it ends at the next step. Ctrl+C again ends it immediately.\n";
/// After so long without a next step the process ends.
constexpr unsigned kPatienceSeconds = 5;

struct Watched {
  int signal;
  struct sigaction old;
};
Watched g_watched[] = {{.signal = SIGINT, .old = {}}, {.signal = SIGTERM, .old = {}}};
struct sigaction g_old_alarm {};
std::atomic<int> g_signal{0};

void do_as_before(int signal) {
  for (const Watched& w : g_watched) {
    if (w.signal != signal) continue;
    if (w.old.sa_handler != SIG_DFL) return w.old.sa_handler(signal);
    ::signal(signal, SIG_DFL);
    ::raise(signal);
  }
}

extern "C" void request_end(int signal) {
  if (g_signal.exchange(signal) != 0) return do_as_before(signal);
  ::alarm(kPatienceSeconds);
  const int saved = errno;
  if (::isatty(STDERR_FILENO) != 0 && ::write(STDERR_FILENO, kTold.data(), kTold.size()) < 0) errno = 0;
  errno = saved;
}

extern "C" void lose_patience(int) { do_as_before(g_signal.load()); }

}  // namespace

InterruptRequest::InterruptRequest() : hook_([] { return g_signal.load() != 0; }) {
  g_signal.store(0);
  struct sigaction action {};
  action.sa_handler = request_end;
  for (Watched& w : g_watched) {
    ::sigaction(w.signal, nullptr, &w.old);
    if (w.old.sa_handler != SIG_IGN) ::sigaction(w.signal, &action, nullptr);
  }
  action.sa_handler = lose_patience;
  ::sigaction(SIGALRM, &action, &g_old_alarm);
}

InterruptRequest::~InterruptRequest() {
  ::alarm(0);
  ::sigaction(SIGALRM, &g_old_alarm, nullptr);
  for (const Watched& w : g_watched) ::sigaction(w.signal, &w.old, nullptr);
}

int InterruptRequest::settle() const {
  ::alarm(0);
  return g_signal.load();
}

void InterruptRequest::end_by(int signal) const { do_as_before(signal); }

}  // namespace assay::cli
