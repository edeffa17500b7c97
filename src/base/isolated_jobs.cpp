#include "base/isolated_jobs.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <system_error>
#include <vector>

#include "assay/error.h"
#include "base/exception_text.h"
#include "base/log.h"
#include "base/memory_limit.h"
#include "base/time_trace.h"

namespace assay {
namespace {

using Clock = std::chrono::steady_clock;

bool write_all(int fd, const void* data, size_t bytes) {
  const char* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t n = send(fd, at, bytes, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    bytes -= static_cast<size_t>(n);
  }
  return true;
}

bool read_all(int fd, void* data, size_t bytes) {
  char* at = static_cast<char*>(data);
  while (bytes > 0) {
    const ssize_t n = read(fd, at, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    bytes -= static_cast<size_t>(n);
  }
  return true;
}

/// The exceptions of std::thread do not say what failed.
std::string reason_of(const std::exception& e) {
  const auto* system = dynamic_cast<const std::system_error*>(&e);
  if (system != nullptr && system->code() == std::errc::resource_unavailable_try_again)
    return "no further thread can be started: the memory or the number of processes that the user may have "
           "(ulimit -v, ulimit -u, the control group) is used up";
  return text_of(e);
}

/// Reads job numbers and writes lengths and texts of results, until the parent closes its end.
[[noreturn]] void serve(int fd, const std::function<std::string(size_t)>& work) {
  uint64_t job = 0;
  while (read_all(fd, &job, sizeof job)) {
    std::string text;
    try {
      const trace::Span span(trace::Kind::kCheck, [&] { return fmt::format("job {}", job); });
      text = work(job);
    } catch (const std::exception& e) {
      text = std::string("error: ") + reason_of(e);
    }
    log::flush();  // the child may end without warning
    const uint64_t length = text.size();
    if (!write_all(fd, &length, sizeof length) || !write_all(fd, text.data(), text.size())) break;
  }
  trace::leave_for_parent("worker");
  _exit(0);
}

/// One child process and the job it works on.
class Worker {
 public:
  /// `memory`: its part of the budget.
  Worker(const std::function<std::string(size_t)>& work, const std::vector<Worker>& siblings,
         int64_t memory) {
    int ends[2];
    const bool is_made = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0;
    require(is_made, ErrorCode::kIo, "cannot make a socket for a child process: {}", std::strerror(errno));
    log::flush();  // otherwise the child would print the buffered lines, too
    const pid_t parent = getpid();
    pid_ = fork();
    if (pid_ == 0) {
      // Children end with their parent, however it ends.
      if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) _exit(1);
      set_memory_limit(memory);
      close(ends[0]);
      // A sibling ends when the last copy of the parent's end of its socket is closed.
      for (const Worker& other : siblings)
        if (other.fd_ >= 0) close(other.fd_);
      serve(ends[1], work);
    }
    const int reason = errno;
    close(ends[1]);
    fd_ = ends[0];
    if (pid_ < 0) {
      close(fd_);
      fail(ErrorCode::kIo, "cannot make a child process: {}", std::strerror(reason));
    }
    trace::child_started(pid_, "worker");
  }
  Worker(Worker&& o) noexcept
      : pid_(o.pid_), fd_(o.fd_), job_(o.job_), is_busy_(o.is_busy_), started_(o.started_) {
    o.pid_ = -1;
    o.fd_ = -1;
  }
  Worker& operator=(Worker&&) = delete;
  ~Worker() { stop(); }

  int fd() const { return fd_; }
  size_t job() const { return job_; }
  bool is_busy() const { return is_busy_; }
  double seconds() const { return std::chrono::duration<double>(Clock::now() - started_).count(); }

  bool start(size_t job) {
    job_ = job;
    is_busy_ = true;
    started_ = Clock::now();
    const uint64_t number = job;
    return write_all(fd_, &number, sizeof number);
  }
  /// False when the child died before it had written everything.
  bool receive(std::string& text) {
    uint64_t length = 0;
    if (!read_all(fd_, &length, sizeof length)) return false;
    text.resize(length);
    is_busy_ = false;
    return read_all(fd_, text.data(), length);
  }
  /// Ends the child; returns how it had ended by itself.
  std::string stop() {
    if (pid_ < 0) return {};
    if (fd_ >= 0) close(fd_);
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    trace::child_ended(pid_);
    pid_ = fd_ = -1;
    if (WIFSIGNALED(status))
      return fmt::format("was killed by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
    return fmt::format("ended with exit status {}", WEXITSTATUS(status));
  }
  void kill_now() const { kill(pid_, SIGKILL); }

 private:
  pid_t pid_ = -1;
  int fd_ = -1;
  size_t job_ = 0;
  bool is_busy_ = false;
  Clock::time_point started_;
};

class Pool {
 public:
  Pool(size_t jobs, const IsolatedJobOptions& options, const std::function<std::string(size_t)>& work,
       const std::function<void(const IsolatedJobResult&)>& done)
      : jobs_(jobs), options_(options), work_(work), done_(done) {}

  void run() {
    const size_t wanted = std::min(jobs_, static_cast<size_t>(std::max(options_.workers, 1)));
    workers_.reserve(wanted);
    while (finished_ < jobs_) {
      while (workers_.size() < wanted && next_ < jobs_) {
        workers_.emplace_back(work_, workers_,
                              memory_in_use() + memory_left() / static_cast<int64_t>(wanted));
        workers_.back().start(next_++);
      }
      wait();
    }
  }

 private:
  /// Waits for the next result, death or timeout and handles it.
  void wait() {
    std::vector<pollfd> watched;
    double least = 3600;
    for (const Worker& w : workers_) {
      watched.push_back({w.fd(), POLLIN, 0});
      if (options_.timeout_seconds > 0) least = std::min(least, options_.timeout_seconds - w.seconds());
    }
    const int ready = poll(watched.data(), watched.size(), static_cast<int>(std::max(least, 0.0) * 1000) + 1);
    require(ready >= 0 || errno == EINTR, ErrorCode::kIo, "cannot wait for a child process: {}",
            std::strerror(errno));
    for (size_t i = workers_.size(); i-- > 0;) {
      if (ready > 0 && watched[i].revents != 0)
        answer(i);
      else if (options_.timeout_seconds > 0 && workers_[i].seconds() > options_.timeout_seconds)
        overdue(i);
    }
  }

  void answer(size_t i) {
    Worker& w = workers_[i];
    IsolatedJobResult result{.job = w.job(), .text = {}, .death = {}};
    if (!w.receive(result.text)) {
      result.text.clear();
      result.death = w.stop();
      remove(i);
    } else if (next_ < jobs_) {
      w.start(next_++);
    } else {
      remove(i);
    }
    finish(result);
  }

  void overdue(size_t i) {
    const IsolatedJobResult result{.job = workers_[i].job(),
                                   .text = {},
                                   .death = fmt::format("took longer than {} s", options_.timeout_seconds)};
    workers_[i].kill_now();
    remove(i);
    finish(result);
  }

  void remove(size_t i) {
    // Worker is not assignable: the others are moved into a new list.
    std::vector<Worker> left;
    left.reserve(workers_.capacity());
    for (size_t k = 0; k < workers_.size(); ++k)
      if (k != i) left.push_back(std::move(workers_[k]));
    workers_.swap(left);
  }

  void finish(const IsolatedJobResult& result) {
    ++finished_;
    done_(result);
  }

  size_t jobs_;
  const IsolatedJobOptions& options_;
  const std::function<std::string(size_t)>& work_;
  const std::function<void(const IsolatedJobResult&)>& done_;
  std::vector<Worker> workers_;
  size_t next_ = 0, finished_ = 0;
};

}  // namespace

void run_isolated(size_t jobs, const IsolatedJobOptions& options,
                  const std::function<std::string(size_t)>& work,
                  const std::function<void(const IsolatedJobResult&)>& done) {
  Pool(jobs, options, work, done).run();
}

}  // namespace assay
