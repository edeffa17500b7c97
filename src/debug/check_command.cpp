#include "debug/check_command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <re2/re2.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

#include "assay/error.h"
#include "base/descriptor.h"
#include "base/interrupt_pipe.h"
#include "debug/failure_text.h"

namespace assay::debug {
namespace {

constexpr std::string_view kCandidate = "{}";

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

/// The file that a shell would start for the name. Throws Error.
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

struct Ends {
  Descriptor reading, writing;
};

Ends make_pipe() {
  int ends[2];
  require(::pipe2(ends, O_CLOEXEC) == 0, ErrorCode::kIo, "cannot open a pipe: {}", std::strerror(errno));
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

/// In the child: only what may be called between fork() and exec().
[[noreturn]] void become(const char* path, char* const* argv, int out, int error, int told, pid_t parent) {
  ::setsid();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);  // it ended before it could be told so
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  for (const int signal : {SIGINT, SIGPIPE, SIGTERM}) ::sigaction(signal, &standard, nullptr);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
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
  Running(const std::string& path, const std::vector<std::string>& command) {
    Ends out = make_pipe(), error = make_pipe(), told = make_pipe();
    std::vector<char*> argv;
    for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    const pid_t parent = ::getpid();
    pid_ = ::fork();
    require(pid_ >= 0, ErrorCode::kIo, "cannot start a process for the check: {}", std::strerror(errno));
    if (pid_ == 0)
      become(path.c_str(), argv.data(), out.writing.get(), error.writing.get(), told.writing.get(), parent);
    told.writing = Descriptor();
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
    pid_ = -1;
    code_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
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
  Descriptor out_, error_;
  int code_ = 0;
};

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Takes what is there to read; false at the end.
bool drain(int fd, BoundedText& text) {
  std::array<char, 1 << 16> buffer;
  const ssize_t n = ::read(fd, buffer.data(), buffer.size());
  if (n > 0) text.append({buffer.data(), static_cast<size_t>(n)});
  return n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN));
}

std::string signal_text(int code) {
  const int signal = code - 128;
  if (code > 128 && signal < NSIG && sigabbrev_np(signal) != nullptr)
    return fmt::format("signal {} ({})", signal, sigdescr_np(signal));
  return fmt::format("exit code {}", code);
}

}  // namespace

CommandResult run_command(const std::vector<std::string>& command, double timeout_seconds) {
  const Clock::time_point start = Clock::now();
  const std::string path = program_path(command.front());
  const InterruptPipe interrupt;
  Running running(path, command);
  BoundedText out, error;
  CommandResult result;
  bool out_open = true, error_open = true;
  // Something that the command left behind may hold its pipes open for ever.
  constexpr int kPause = 50;
  while (out_open || error_open) {
    if (timeout_seconds > 0 && seconds_since(start) >= timeout_seconds) {
      result.timed_out = true;
      break;
    }
    std::array<pollfd, 3> fds = {{{out_open ? running.out() : -1, POLLIN, 0},
                                  {error_open ? running.error() : -1, POLLIN, 0},
                                  {interrupt.fd(), POLLIN, 0}}};
    const int ready = ::poll(fds.data(), fds.size(), kPause);
    if ((fds[2].revents & POLLIN) != 0) throw Interrupted();
    if (ready == 0 && running.has_ended()) break;
    if (ready <= 0) continue;
    if (fds[0].revents != 0) out_open = drain(running.out(), out);
    if (fds[1].revents != 0) error_open = drain(running.error(), error);
  }
  while (!result.timed_out && !running.has_ended()) {  // it closed its output and goes on
    result.timed_out = timeout_seconds > 0 && seconds_since(start) >= timeout_seconds;
    pollfd fd = {interrupt.fd(), POLLIN, 0};
    if (::poll(&fd, 1, kPause / 10) > 0) throw Interrupted();
  }
  result.exit_code = result.timed_out ? running.end() : running.wait();
  result.standard_output = out.str();
  result.standard_error = error.str();
  result.seconds = seconds_since(start);
  return result;
}

struct CheckCommand::Regexes {
  std::vector<std::unique_ptr<RE2>> list;
};

CheckCommand::CheckCommand(CheckOptions options)
    : options_(std::move(options)), regexes_(std::make_unique<Regexes>()) {
  require(!options_.command.empty() && !options_.command.front().empty(), ErrorCode::kInvalidArgument,
          "the check has no command");
  program_path(options_.command.front());
  for (const std::string& text : options_.fail_regexes) {
    RE2::Options quiet;
    quiet.set_log_errors(false);
    auto regex = std::make_unique<RE2>(text, quiet);
    require(regex->ok(), ErrorCode::kInvalidArgument, "'{}' is not a regular expression of RE2: {}", text,
            regex->error());
    regexes_->list.push_back(std::move(regex));
  }
}

CheckCommand::~CheckCommand() = default;

std::vector<std::string> CheckCommand::command_for(const std::string& candidate) const {
  std::vector<std::string> words = options_.command;
  for (std::string& word : words)
    for (size_t at = 0; (at = word.find(kCandidate, at)) != std::string::npos; at += candidate.size())
      word.replace(at, kCandidate.size(), candidate);
  return words;
}

Answer CheckCommand::check(const std::string& candidate, SearchObserver& observer) {
  const std::vector<std::string> command = command_for(candidate);
  observer.begin_command(command);
  const CommandResult result = run_command(command, options_.timeout_seconds);
  const Answer answer = judge(result);
  observer.end_command(result, answer);
  return answer;
}

bool CheckCommand::names_candidate() const {
  return std::any_of(options_.command.begin(), options_.command.end(),
                     [](const std::string& word) { return word.find(kCandidate) != std::string::npos; });
}

bool CheckCommand::has_matching_output(const CommandResult& result) const {
  const std::string output = result.standard_output + result.standard_error;
  return std::any_of(regexes_->list.begin(), regexes_->list.end(),
                     [&](const auto& regex) { return RE2::PartialMatch(output, *regex); });
}

bool CheckCommand::is_failure(const CommandResult& result) const {
  const auto has = [&](const std::vector<int64_t>& codes) {
    return std::find(codes.begin(), codes.end(), result.exit_code) != codes.end();
  };
  if (has(options_.ignore_fail_codes)) return false;
  const bool asks_output = !regexes_->list.empty();
  if (!options_.fail_codes.empty())
    return has(options_.fail_codes) && (!asks_output || has_matching_output(result));
  return asks_output ? has_matching_output(result) : result.exit_code != 0;
}

std::string CheckCommand::describe(const CommandResult& result) const {
  std::string text = signal_text(result.exit_code);
  // A crash is told by its signal; what came before it may be anything.
  if (result.exit_code > 128) return text;
  const std::string said = failure_text(result.standard_error + "\n" + result.standard_output);
  return said.empty() ? text : text + ": " + said;
}

Answer CheckCommand::judge(const CommandResult& result) {
  Answer answer;
  answer.seconds = result.seconds;
  if (result.timed_out) {
    answer.kind = AnswerKind::kTimeOut;
    answer.failure = "time-out";
  } else if (is_failure(result)) {
    answer.kind = AnswerKind::kFailure;
    answer.failure = describe(result);
  } else {
    return answer;
  }
  if (failure_.empty()) {
    failure_ = answer.failure;
    answer.kind = AnswerKind::kFailure;
    return answer;
  }
  const bool compares = options_.same_failure && options_.fail_codes.empty() && options_.fail_regexes.empty();
  if (answer.failure == failure_)
    answer.kind = AnswerKind::kFailure;
  else if (compares && answer.kind == AnswerKind::kFailure)
    answer.kind = AnswerKind::kOtherFailure;
  return answer;
}

}  // namespace assay::debug
