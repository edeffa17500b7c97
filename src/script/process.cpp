#include "script/process.h"

#include <fcntl.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>

#include "assay/error.h"
#include "base/log.h"
#include "base/time_trace.h"

namespace assay::script {
namespace {

/// No signal interrupts the keeper: they are for the threads that do the program's work.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockedSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_;
};

/// Runs in the new process, between fork and exec, where only async-signal-safe calls are allowed. Writes
/// errno to `result` when the program does not start.
[[noreturn]] void become(char* const* arguments, const std::vector<int>& inherited, int output, pid_t parent,
                         int result) {
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || ::getppid() != parent) ::_exit(127);
  if (::fcntl(output, F_GETFD) < 0) output = ::open("/dev/null", O_WRONLY);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  for (const int fd : inherited) ::fcntl(fd, F_SETFD, 0);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execv(arguments[0], arguments);
  const int reason = errno;
  [[maybe_unused]] const ssize_t n = ::write(result, &reason, sizeof reason);
  ::_exit(127);
}

}  // namespace

Descriptor above_standard(int fd) {
  Descriptor given(fd);
  if (fd < 0 || fd > STDERR_FILENO) return given;
  return Descriptor(::fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

Pipe::Pipe() {
  int ends[2] = {-1, -1};
  const bool is_made = ::pipe2(ends, O_CLOEXEC) == 0;
  require(is_made, ErrorCode::kIo, "cannot make a pipe: {}", std::strerror(errno));
  reading = above_standard(ends[0]);
  writing = above_standard(ends[1]);
}

Process::Process(std::vector<std::string> arguments, std::vector<int> inherited, int output)
    : ended_(above_standard(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))) {
  require(static_cast<bool>(ended_), ErrorCode::kIo, "cannot prepare a child process: {}",
          std::strerror(errno));
  Pipe started;
  const std::string program = arguments[0];
  log::flush();
  {
    const BlockedSignals blocked;
    keeper_ =
        std::thread([this, arguments = std::move(arguments), inherited = std::move(inherited), output,
                     result = started.writing.release()] { keep(arguments, inherited, output, result); });
  }
  int reason = 0;
  ssize_t n = 0;
  while ((n = ::read(started.reading.get(), &reason, sizeof reason)) < 0 && errno == EINTR) {
  }
  if (n == 0) return;
  keeper_.join();
  fail(ErrorCode::kIo, "cannot start {}: {}", program, std::strerror(reason));
}

void Process::keep(std::vector<std::string> arguments, const std::vector<int>& inherited, int output,
                   int result) {
  std::vector<char*> pointers;
  for (std::string& a : arguments) pointers.push_back(a.data());
  pointers.push_back(nullptr);
  const pid_t parent = ::getpid();
  {
    const std::lock_guard lock(mutex_);
    pid_ = ::fork();
  }
  const pid_t child = pid_;
  if (child == 0) become(pointers.data(), inherited, output, parent, result);
  if (child < 0) {
    const int reason = errno;
    [[maybe_unused]] const ssize_t n = ::write(result, &reason, sizeof reason);
  }
  ::close(result);
  if (child < 0) return;
  trace::child_started(child, fmt::format("{}", fmt::join(arguments, " ")));
  // Its process id stays reserved until its status is collected.
  siginfo_t info{};
  ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);
  trace::child_ended(child);
  const std::lock_guard lock(mutex_);
  ::waitpid(child, &status_, 0);
  pid_ = -1;
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = ::write(ended_.get(), &one, sizeof one);
}

Process::~Process() {
  kill_now();
  keeper_.join();
}

bool Process::wait(double seconds) {
  pollfd watched = {ended_.get(), POLLIN, 0};
  return ::poll(&watched, 1, static_cast<int>(seconds * 1000)) > 0;
}

void Process::kill_now() {
  const std::lock_guard lock(mutex_);
  if (pid_ > 0) ::kill(pid_, SIGKILL);
}

std::string Process::end() const {
  if (WIFSIGNALED(status_))
    return fmt::format("was killed by signal {} ({})", WTERMSIG(status_), ::strsignal(WTERMSIG(status_)));
  return fmt::format("ended with exit status {}", WEXITSTATUS(status_));
}

}  // namespace assay::script
