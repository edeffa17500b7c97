#include "debug/command_run.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

#include "assay/error.h"
#include "assay/interrupt.h"
#include "base/descriptor.h"
#include "base/interrupt_pipe.h"
#include "base/time_trace.h"

namespace assay::debug {
namespace {

using Clock = std::chrono::steady_clock;

/// The beginning and the end of a text that may be endless.
class BoundedText {
 public:
  void append(std::string_view text) {
    const size_t room = kKept - std::min(kKept, head_.size());
    head_ += text.substr(0, room);
    text.remove_prefix(std::min(room, text.size()));
    tail_ += text;
    if (tail_.size() <= 2 * kKept) return;
    left_out_ += tail_.size() - kKept;
    tail_.erase(0, tail_.size() - kKept);
  }
  std::string str() const {
    if (left_out_ == 0) return head_ + tail_;
    return head_ + fmt::format("\n... {} bytes are left out here ...\n", left_out_) + tail_;
  }

 private:
  static constexpr size_t kKept = size_t{1} << 20;
  std::string head_, tail_;
  size_t left_out_ = 0;
};

bool is_program(const std::string& path) {
  struct stat st {};
  return ::stat(path.c_str(), &st) == 0 && S_ISREG(st.st_mode) && ::access(path.c_str(), X_OK) == 0;
}

struct Ends {
  Descriptor reading, writing;
};

Ends make_pipe() {
  int ends[2];
  require(::pipe2(ends, O_CLOEXEC) == 0, ErrorCode::kIo, "cannot open a pipe: {}", std::strerror(errno));
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

/// In the child: only what may be called between fork() and exec().
[[noreturn]] void become(const char* path, char* const* argv, int out, int error, int told, pid_t parent,
                         int64_t largest_file) {
  ::setsid();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);  // it ended before it could be told so
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  for (const int signal : {SIGINT, SIGPIPE, SIGTERM, SIGXFSZ}) ::sigaction(signal, &standard, nullptr);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (largest_file > 0) {
    const rlimit limit = {static_cast<rlim_t>(largest_file), static_cast<rlim_t>(largest_file)};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  const int nothing = ::open("/dev/null", O_RDONLY);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(error, STDERR_FILENO);
  ::execv(path, argv);
  const int reason = errno;
  [[maybe_unused]] const ssize_t ignored = ::write(told, &reason, sizeof reason);
  ::_exit(127);
}

/// A command that runs, with all that it starts.
class Running {
 public:
  Running(const std::string& path, const std::vector<std::string>& command, int64_t largest_file) {
    Ends out = make_pipe(), error = make_pipe(), told = make_pipe();
    std::vector<char*> argv;
    for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    const pid_t parent = ::getpid();
    pid_ = ::fork();
    require(pid_ >= 0, ErrorCode::kIo, "cannot start a process for the check: {}", std::strerror(errno));
    if (pid_ == 0)
      become(path.c_str(), argv.data(), out.writing.get(), error.writing.get(), told.writing.get(), parent,
             largest_file);
    trace::child_started(pid_, fmt::format("{}", fmt::join(command, " ")));
    told.writing = Descriptor();
    exit_ = Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
    for (const Ends* ends : {&out, &error}) ::fcntl(ends->reading.get(), F_SETFL, O_NONBLOCK);
    out_ = std::move(out.reading);
    error_ = std::move(error.reading);
    int reason = 0;
    if (::read(told.reading.get(), &reason, sizeof reason) == sizeof reason) {
      int ignored = 0;
      ::waitpid(pid_, &ignored, 0);
      pid_ = -1;
      fail(ErrorCode::kIo, "cannot start the check's program {}: {}", path, std::strerror(reason));
    }
  }
  ~Running() { end(); }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  int out() const { return out_.get(); }
  int error() const { return error_.get(); }
  /// Can be read once it has ended; -1 where the system has no such thing.
  int exit() const { return exit_.get(); }
  /// Kills it and all that it started in its session's group, and waits. The exit code as a shell gives it.
  int end() {
    if (pid_ < 0) return code_;
    ::kill(-pid_, SIGKILL);
    return wait();
  }
  /// Waits for its end, and ends what it left behind.
  int wait() {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    ::kill(-pid_, SIGKILL);
    code_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    trace::child_ended(pid_, fmt::format("status {}", code_));
    pid_ = -1;
    return code_;
  }
  /// Whether it has ended, without waiting.
  bool has_ended() const {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid != 0;
  }

 private:
  pid_t pid_ = -1;
  Descriptor out_, error_, exit_;
  int code_ = 0;
};

/// Takes what is there to read, up to some megabytes. False at the end.
bool drain(int fd, BoundedText& text) {
  std::array<char, 1 << 16> buffer;
  for (int i = 0; i < 64; ++i) {
    const ssize_t n = ::read(fd, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n < 0 && errno == EAGAIN;
    text.append({buffer.data(), static_cast<size_t>(n)});
  }
  return true;
}

double seconds_between(Clock::time_point start, Clock::time_point end) {
  return std::chrono::duration<double>(end - start).count();
}

}  // namespace

std::string program_path(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    struct stat st {};
    require(::stat(name.c_str(), &st) == 0, ErrorCode::kNotFound, "the check's program {} is not there: {}",
            name, std::strerror(errno));
    require(is_program(name), ErrorCode::kInvalidArgument,
            "the check's program {} is not executable; give it the permission by chmod +x", name);
    return name;
  }
  const char* variable = std::getenv("PATH");
  std::string_view rest = variable == nullptr ? "/usr/bin:/bin" : variable;
  while (true) {
    const size_t colon = rest.find(':');
    std::string folder(rest.substr(0, colon));
    if (folder.empty()) folder = ".";
    if (std::string path = folder + "/" + name; is_program(path)) return path;
    if (colon == std::string_view::npos) break;
    rest.remove_prefix(colon + 1);
  }
  fail(ErrorCode::kNotFound, "the check's program '{}' is in no folder of PATH", name);
}

struct CommandRun::State {
  State(const std::vector<std::string>& command, const CommandLimits& limits)
      : running(program_path(command.front()), command, limits.largest_file), limits(limits) {}

  void end(bool timed_out) {
    has_ended = true;
    result.timed_out = timed_out;
    result.exit_code = timed_out ? running.end() : running.wait();
    result.standard_output = out.str();
    result.standard_error = error.str();
    result.seconds = seconds_between(start, Clock::now());
  }

  /// Whether the command used up its time. What it had to wait for us, who did something else, is not its.
  bool is_overdue() {
    constexpr double kAway = 0.5;
    const Clock::time_point now = Clock::now();
    if (const double away = seconds_between(looked, now); away > kAway) allowance += away;
    looked = now;
    return limits.timeout_seconds > 0 && seconds_between(start, now) >= limits.timeout_seconds + allowance;
  }

  Clock::time_point start = Clock::now(), looked = start;
  Running running;
  CommandLimits limits;
  double allowance = 0;
  BoundedText out, error;
  bool out_open = true, error_open = true, has_ended = false;
  CommandResult result;
};

CommandRun::CommandRun(const std::vector<std::string>& command, const CommandLimits& limits)
    : state_(std::make_unique<State>(command, limits)) {}

CommandRun::~CommandRun() = default;

void CommandRun::watch(std::vector<pollfd>& fds) const {
  if (state_->out_open) fds.push_back({state_->running.out(), POLLIN, 0});
  if (state_->error_open) fds.push_back({state_->running.error(), POLLIN, 0});
  if (state_->running.exit() >= 0) fds.push_back({state_->running.exit(), POLLIN, 0});
}

bool CommandRun::advance() {
  State& s = *state_;
  if (s.has_ended) return true;
  // Before reading, so that all it wrote is there to read.
  const bool is_over = s.running.has_ended();
  if (s.out_open) s.out_open = drain(s.running.out(), s.out);
  if (s.error_open) s.error_open = drain(s.running.error(), s.error);
  const bool is_overdue = s.is_overdue();
  if (is_over || is_overdue) s.end(!is_over);
  return s.has_ended;
}

const CommandResult& CommandRun::result() const { return state_->result; }

CommandResult run_command(const std::vector<std::string>& command, double timeout_seconds) {
  return run_command(command, CommandLimits{.timeout_seconds = timeout_seconds});
}

CommandResult run_command(const std::vector<std::string>& command, const CommandLimits& limits) {
  const InterruptPipe interrupt;
  CommandRun run(command, limits);
  while (!run.advance()) {
    std::vector<pollfd> fds = {{interrupt.fd(), POLLIN, 0}};
    run.watch(fds);
    ::poll(fds.data(), fds.size(), kCommandPause);
    if ((fds[0].revents & POLLIN) != 0 || is_interrupted()) throw Interrupted();
  }
  return run.result();
}

}  // namespace assay::debug
