#include "debug/child_run.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "assay/error.h"
#include "base/exception_text.h"
#include "base/log.h"
#include "base/memory_limit.h"
#include "base/time_trace.h"

namespace assay::debug {
namespace {

/// In the child.
[[noreturn]] void do_work(const std::function<std::string()>& work, int writing, int64_t memory,
                          pid_t parent) {
  ::setpgid(0, 0);  // SIGINT of a terminal goes to the parent, which ends its children
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || ::getppid() != parent) ::_exit(1);
  set_memory_limit(memory);
  std::string text;
  try {
    const trace::Span span(trace::Kind::kCheck, "check");
    text = marked_result(work);
  } catch (const std::exception& e) {
    text = std::string("error: ") + text_of(e);
  }
  log::flush();
  trace::leave_for_parent("check");
  for (size_t done = 0; done < text.size();) {
    const ssize_t n = ::write(writing, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) ::_exit(1);
    done += static_cast<size_t>(n);
  }
  ::_exit(0);
}

std::string death_of(int status) {
  if (WIFSIGNALED(status))
    return fmt::format("was killed by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  return fmt::format("ended with exit status {}", WEXITSTATUS(status));
}

}  // namespace

ChildRun::ChildRun(const std::function<std::string()>& work, double timeout_seconds, double memory)
    : timeout_seconds_(timeout_seconds) {
  int ends[2];
  require(::pipe2(ends, O_CLOEXEC) == 0, ErrorCode::kIo, "cannot open a pipe: {}", std::strerror(errno));
  reading_ = Descriptor(ends[0]);
  const Descriptor writing(ends[1]);
  ::fcntl(reading_.get(), F_SETFL, O_NONBLOCK);
  log::flush();  // otherwise the child would print the buffered lines, too
  const int64_t budget = memory_in_use() + static_cast<int64_t>(static_cast<double>(memory_left()) * memory);
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  require(pid_ >= 0, ErrorCode::kIo, "cannot make a child process: {}", std::strerror(errno));
  if (pid_ == 0) do_work(work, writing.get(), budget, parent);
  trace::child_started(pid_, "check");
}

ChildRun::~ChildRun() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  int ignored = 0;
  while (::waitpid(pid_, &ignored, 0) < 0 && errno == EINTR) {
  }
  trace::child_ended(pid_, "killed");
}

void ChildRun::watch(std::vector<pollfd>& fds) const {
  if (pid_ >= 0) fds.push_back({reading_.get(), POLLIN, 0});
}

bool ChildRun::advance() {
  if (pid_ < 0) return true;
  std::array<char, 1 << 16> buffer;
  while (true) {
    const ssize_t n = ::read(reading_.get(), buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n > 0) text_.append(buffer.data(), static_cast<size_t>(n));
    if (n == 0) end();
    if (n <= 0) break;
  }
  if (pid_ < 0) return true;
  watch_.pause(), watch_.resume();
  if (timeout_seconds_ > 0 && watch_.seconds() > timeout_seconds_) {
    ::kill(pid_, SIGKILL);
    end();
    outcome_ = {.death = fmt::format("took longer than {} s", timeout_seconds_), .is_overdue = true};
  }
  return pid_ < 0;
}

void ChildRun::end() {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  trace::child_ended(pid_, status == 0 ? "" : death_of(status));
  pid_ = -1;
  watch_.pause();
  if (status != 0)
    outcome_.death = death_of(status);
  else
    read_marked_result(text_, outcome_);
}

}  // namespace assay::debug
