#include "base/interrupt_pipe.h"

#include <fcntl.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "assay/error.h"

namespace assay {
namespace {

std::atomic<int> g_interrupt_fd = -1;

void tell_of_interrupt(int) {
  const int saved = errno;
  // A full pipe already signals the interrupt.
  if (::write(g_interrupt_fd.load(), "", 1) < 0) errno = 0;
  errno = saved;
}

}  // namespace

InterruptPipe::InterruptPipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
    fail(ErrorCode::kIo, "cannot open a pipe: {}", std::strerror(errno));
  read_end_ = Descriptor(ends[0]);
  write_end_ = Descriptor(ends[1]);
  g_interrupt_fd = write_end_.get();
  struct sigaction action {};
  action.sa_handler = tell_of_interrupt;
  ::sigaction(SIGINT, nullptr, &old_);
  if (old_.sa_handler != SIG_IGN) ::sigaction(SIGINT, &action, nullptr);
}

InterruptPipe::~InterruptPipe() {
  ::sigaction(SIGINT, &old_, nullptr);
  g_interrupt_fd = -1;
}

}  // namespace assay
