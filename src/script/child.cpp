#include "script/child.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>

#include "base/diagnostics.h"
#include "base/log.h"
#include "script/embedded.h"
#include "script/interpreter.h"
#include "script/process.h"

namespace assay::script {
namespace {

/// Constants of python/assay_child/wire.py.
constexpr std::string_view kVersion = "assay001";
struct Head {
  char version[8];
  uint64_t header_bytes;
  uint64_t body_bytes;
};
constexpr uint64_t kLargestHeader = uint64_t{256} << 20;
/// The size that Linux allows every user; larger pipes mean fewer switches between reading and writing.
constexpr int kPipeBytes = 1 << 20;
/// Time for work at exit: functions that scripts registered with atexit.
constexpr double kSecondsToEnd = 5;

Descriptor memory_file(const char* name, std::string_view content) {
  Descriptor file = above_standard(::memfd_create(name, MFD_CLOEXEC));
  bool is_written = static_cast<bool>(file);
  for (size_t at = 0; is_written && at < content.size();) {
    const ssize_t n = ::write(file.get(), content.data() + at, content.size() - at);
    is_written = n > 0;
    if (is_written) at += static_cast<size_t>(n);
  }
  require(is_written, ErrorCode::kIo, "cannot make a file in memory for a script's process: {}",
          std::strerror(errno));
  return file;
}

/// A pipe with a large buffer.
Pipe large_pipe() {
  Pipe pipe;
  ::fcntl(pipe.reading.get(), F_SETPIPE_SZ, kPipeBytes);  // optional, only for speed
  return pipe;
}

/// A closed pipe is an error of write(), not a signal that ends this process.
class NoBrokenPipeSignal {
 public:
  NoBrokenPipeSignal() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~NoBrokenPipeSignal() {
    if (sigismember(&before_, SIGPIPE) == 0) {
      const timespec at_once = {0, 0};
      while (::sigtimedwait(&pipe_, nullptr, &at_once) > 0) {
      }
      ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }
  }
  NoBrokenPipeSignal(const NoBrokenPipeSignal&) = delete;
  NoBrokenPipeSignal& operator=(const NoBrokenPipeSignal&) = delete;

 private:
  sigset_t pipe_, before_;
};

/// Reasons why communication with the process failed.
enum class Broken {
  kGone,       ///< it has ended, or will soon
  kOutOfTurn,  ///< it wrote when it should read
};
/// From the end of its pipes to its exit: a large process takes time to crash.
constexpr double kSecondsToDie = 30;

/// `File "x.py", line 3 in f`, the first one in faulthandler's text.
std::string crash_place(int file) {
  std::string text(1 << 16, '\0');
  const ssize_t n = ::pread(file, text.data(), text.size(), 0);
  text.resize(n > 0 ? static_cast<size_t>(n) : 0);
  // Skips Python's own modules.
  for (size_t at = text.find("  File \""); at != std::string::npos; at = text.find("  File \"", at + 1)) {
    const std::string line = text.substr(at + 2, text.find('\n', at) - at - 2);
    if (line.find("/site-packages/") == std::string::npos && line.find("/lib/python") == std::string::npos &&
        line.find("assay_child/") == std::string::npos)
      return line;
  }
  return {};
}

}  // namespace

struct Child::Impl {
  explicit Impl(const ChildOptions& o)
      : options(o),
        interpreter(find_interpreter(o.interpreter)),
        archive(memory_file("assay-scripts", python_archive())),
        crashes(memory_file("assay-crash", {})) {
    Pipe requests = large_pipe(), answers = large_pipe();
    request_fd = std::move(requests.writing);
    answer_fd = std::move(answers.reading);
    for (const int fd : {request_fd.get(), answer_fd.get()}) ::fcntl(fd, F_SETFL, O_NONBLOCK);
    diag::verbose("Running {} with {}", o.purpose, interpreter);
    const int given[] = {archive.get(), requests.reading.get(), answers.writing.get(), crashes.get()};
    process.emplace(std::vector<std::string>{interpreter, fmt::format("/proc/self/fd/{}", given[0]),
                                             std::to_string(given[1]), std::to_string(given[2]),
                                             std::to_string(given[3])},
                    std::vector<int>(std::begin(given), std::end(given)));
  }

  ~Impl() {
    if (!is_usable) return;
    try {
      send({{"operation", "end"}, {"arguments", Item::Dict{}}});
    } catch (...) {
      return;
    }
    process->wait(kSecondsToEnd);
  }

  void send(const Item::Dict& request) {
    const Message message = encode(request);
    Head head{};
    std::memcpy(head.version, kVersion.data(), sizeof head.version);
    head.header_bytes = message.header.size();
    head.body_bytes = message.body_bytes();
    const NoBrokenPipeSignal no_signal;
    write({reinterpret_cast<const char*>(&head), sizeof head});
    write(message.header);
    for (const std::string_view piece : message.body) write(piece);
  }

  void write(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = ::write(request_fd.get(), bytes.data(), bytes.size());
      if (n > 0) {
        bytes.remove_prefix(static_cast<size_t>(n));
      } else if (n < 0 && errno == EAGAIN) {
        wait(request_fd.get(), POLLOUT);
      } else if (n == 0 || errno != EINTR) {
        throw Broken::kGone;
      }
    }
  }

  void read(void* data, size_t bytes) {
    char* at = static_cast<char*>(data);
    while (bytes > 0) {
      const ssize_t n = ::read(answer_fd.get(), at, std::min(bytes, size_t{1} << 30));
      if (n > 0) {
        at += n;
        bytes -= static_cast<size_t>(n);
      } else if (n < 0 && errno == EAGAIN) {
        wait(answer_fd.get(), POLLIN);
      } else if (n == 0 || errno != EINTR) {
        throw Broken::kGone;
      }
    }
  }

  /// Waits until the descriptor is ready, or the process has ended, which its surviving children may hide.
  /// Output before its end is still read.
  void wait(int fd, short events) const {
    pollfd watched[] = {{fd, events, 0}, {process->ended_fd(), POLLIN, 0}, {answer_fd.get(), POLLIN, 0}};
    const bool is_writing = fd == request_fd.get();
    while (::poll(watched, is_writing ? 3 : 2, -1) < 0) {
      if (errno != EINTR) throw Broken::kGone;
    }
    if (watched[0].revents != 0) return;
    // A response without a request: neither side would read again.
    throw watched[1].revents != 0 ? Broken::kGone : Broken::kOutOfTurn;
  }

  Item receive() {
    Head head{};
    read(&head, sizeof head);
    require(std::string_view(head.version, sizeof head.version) == kVersion &&
                head.header_bytes <= kLargestHeader,
            ErrorCode::kInternal, "{} of {} sent something that is no message", process_name(),
            options.purpose);
    std::string header(head.header_bytes, '\0');
    read(header.data(), header.size());
    uint64_t left = head.body_bytes;
    Item item = decode(header, [&](void* data, size_t bytes) {
      require(bytes <= left, ErrorCode::kInternal, "{} of {} sent fewer bytes than its arrays have",
              process_name(), options.purpose);
      left -= bytes;
      read(data, bytes);
    });
    require(left == 0, ErrorCode::kInternal, "{} of {} sent more bytes than its arrays have", process_name(),
            options.purpose);
    return item;
  }

  static std::string_view process_name() { return "the Python process"; }

  /// The cause of the process's end, as far as known.
  Error death(std::string_view doing) {
    if (!process->wait(kSecondsToDie)) {
      process->kill_now();
      process->wait(kSecondsToEnd);
    }
    Error e(ErrorCode::kInvalidArgument, fmt::format("{} of {} {} while it ran {}", process_name(),
                                                     options.purpose, process->end(), doing));
    if (const std::string place = crash_place(crashes.get()); !place.empty()) e.add_context("at " + place);
    if (process->end().find("(Killed)") != std::string::npos)
      e.set_remedy("The system kills processes so when there is too little memory.");
    return e;
  }

  ChildOptions options;
  std::string interpreter;
  Descriptor archive, crashes, request_fd, answer_fd;
  std::optional<Process> process;
  bool is_usable = true;
};

Child::Child(const ChildOptions& options) : impl_(std::make_unique<Impl>(options)) {}
Child::~Child() = default;

const std::string& Child::interpreter() const { return impl_->interpreter; }
bool Child::is_usable() const { return impl_->is_usable; }

namespace {

/// The script's message, and its position.
[[noreturn]] void throw_answer(const Item& answer, const std::string& purpose) {
  Error e(ErrorCode::kInvalidArgument, answer.at("error").text());
  const int64_t line = answer.at("line").integer();
  const std::string& function = answer.at("function").text();
  const std::string& file = answer.at("file").text();
  std::string place;
  if (line > 0) place = fmt::format("at line {}", line);
  if (!function.empty() && function != "<module>")
    place += fmt::format("{} function '{}'", place.empty() ? "in" : " of", function);
  if (!place.empty()) e.add_context(place);
  e.add_context("in " + (file.empty() ? purpose : file));
  if (const std::string& remedy = answer.at("remedy").text(); !remedy.empty()) e.set_remedy(remedy);
  if (const std::string& text = answer.at("traceback").text(); !text.empty()) diag::verbose("{}", text);
  throw e;
}

}  // namespace

Item Child::call(std::string_view operation, const Item::Dict& arguments, std::string_view doing) {
  require(impl_->is_usable, ErrorCode::kInvalidArgument, "{} of {} has ended", Impl::process_name(),
          impl_->options.purpose);
  Item answer;
  impl_->is_usable = false;  // set again when it responds
  try {
    log::flush();  // keeps the order of earlier log lines and the script's output
    impl_->send({{"operation", operation}, {"arguments", arguments}});
    answer = impl_->receive();
  } catch (const Broken why) {
    if (why == Broken::kGone) throw impl_->death(doing);
    fail(ErrorCode::kInternal, "{} of {} answered before it was asked, while it ran {}", Impl::process_name(),
         impl_->options.purpose, doing);
  }
  impl_->is_usable = true;
  if (answer.find("error") != nullptr) throw_answer(answer, impl_->options.purpose);
  return answer.at("answer");
}

}  // namespace assay::script
