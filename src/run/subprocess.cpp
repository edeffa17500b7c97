#include "run/subprocess.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/diagnostics.h"
#include "base/exception_text.h"
#include "base/expected_error.h"
#include "base/log.h"
#include "base/time_trace.h"

namespace assay {
namespace {

/// Messages from the child to the parent. Both are the same program, so numbers are sent as stored.
enum class Message : uint8_t { kActive, kFirstInputs, kOutput, kIterationEnd, kFailed, kDone };

/// Both ends of a pipe, closed at the end of its life at the latest. A child without a reader ends with an
/// error.
class Pipe {
 public:
  Pipe() {
    const bool is_made = ::pipe(ends_) == 0;
    require(is_made, ErrorCode::kIo, "cannot make a pipe: {}", std::strerror(errno));
  }
  ~Pipe() {
    close_reading_end();
    close_writing_end();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  int reading_end() const { return ends_[0]; }
  int writing_end() const { return ends_[1]; }
  void close_reading_end() { close(ends_[0]); }
  void close_writing_end() { close(ends_[1]); }

 private:
  static void close(int& fd) {
    if (fd >= 0) ::close(fd);
    fd = -1;
  }
  int ends_[2] = {-1, -1};
};

class PipeWriter {
 public:
  explicit PipeWriter(int fd) : fd_(fd) {}

  void bytes(const void* data, size_t size) {
    const char* next = static_cast<const char*>(data);
    while (size > 0) {
      const ssize_t n = ::write(fd_, next, std::min<size_t>(size, 1 << 30));
      if (n < 0 && errno == EINTR) continue;
      require(n > 0, ErrorCode::kIo, "cannot send results to the parent process: {}", std::strerror(errno));
      next += n;
      size -= static_cast<size_t>(n);
    }
  }
  template <typename T>
  void value(T v) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes(&v, sizeof v);
  }
  void text(const std::string& s) {
    value(s.size());
    bytes(s.data(), s.size());
  }

 private:
  int fd_;
};

class PipeReader {
 public:
  explicit PipeReader(int fd) : fd_(fd) {}

  /// False at the end of the stream.
  bool bytes(void* data, size_t size) {
    char* next = static_cast<char*>(data);
    while (size > 0) {
      const ssize_t n = ::read(fd_, next, std::min<size_t>(size, 1 << 30));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;
      next += n;
      size -= static_cast<size_t>(n);
    }
    return true;
  }
  /// A stream that ends inside a message is a child that died.
  template <typename T>
  T value() {
    T v{};
    if (!bytes(&v, sizeof v)) throw EndOfStream{};
    return v;
  }
  std::string text() {
    std::string s(value<size_t>(), '\0');
    if (!bytes(s.data(), s.size())) throw EndOfStream{};
    return s;
  }
  struct EndOfStream {};

 private:
  int fd_;
};

void write_type(PipeWriter& out, const Type& type) {
  out.value(type.kind);
  out.value(type.dtype);
  out.value(type.dims.has_value());
  if (type.dims) {
    out.value(type.dims->size());
    for (const Dim& d : *type.dims) {
      out.value(d.value());
      out.text(d.symbol());
    }
  }
  out.value(type.element != nullptr);
  if (type.element) write_type(out, *type.element);
}

Type read_type(PipeReader& in) {
  Type type{.kind = in.value<Type::Kind>()};
  type.dtype = in.value<DType>();
  if (in.value<bool>()) {
    type.dims.emplace(in.value<size_t>());
    for (Dim& d : *type.dims) {
      const auto extent = in.value<int64_t>();
      std::string symbol = in.text();
      d = extent >= 0 ? Dim(extent) : symbol.empty() ? Dim() : Dim::symbol(std::move(symbol));
    }
  }
  if (in.value<bool>()) type.element = std::make_shared<const Type>(read_type(in));
  return type;
}

void write_infos(PipeWriter& out, const std::vector<TensorInfo>& infos) {
  out.value(infos.size());
  for (const TensorInfo& info : infos) {
    out.text(info.name);
    write_type(out, info.type);
  }
}

std::vector<TensorInfo> read_infos(PipeReader& in) {
  std::vector<TensorInfo> infos(in.value<size_t>());
  for (TensorInfo& info : infos) {
    info.name = in.text();
    info.type = read_type(in);
  }
  return infos;
}

void write_tensor(PipeWriter& out, const Tensor& t) {
  out.value(t.dtype());
  if (t.is_container()) {
    out.value(t.elements().size());
    for (const Tensor& e : t.elements()) write_tensor(out, e);
    return;
  }
  out.value(t.shape().size());
  for (const int64_t d : t.shape()) out.value(d);
  if (t.dtype() == DType::kString)
    for (const std::string& s : t.span<std::string>()) out.text(s);
  else
    out.bytes(t.data(), t.nbytes());
}

Tensor read_container(PipeReader& in, DType kind);

Tensor read_tensor(PipeReader& in) {
  const auto dtype = in.value<DType>();
  if (is_container(dtype)) return read_container(in, dtype);
  std::vector<int64_t> dims(in.value<size_t>());
  for (int64_t& d : dims) d = in.value<int64_t>();
  Tensor t = Tensor::allocate(dtype, Shape(std::move(dims)));
  if (dtype == DType::kString) {
    for (std::string& s : t.mutable_span<std::string>()) s = in.text();
  } else if (!in.bytes(t.mutable_data(), t.nbytes())) {
    throw PipeReader::EndOfStream{};
  }
  return t;
}

Tensor read_container(PipeReader& in, DType kind) {
  std::vector<Tensor> elements(in.value<size_t>());
  for (Tensor& e : elements) e = read_tensor(in);
  if (kind == DType::kSequence) return Tensor::sequence(std::move(elements));
  if (kind == DType::kMap) return Tensor::map(elements.at(0), elements.at(1));
  return Tensor::optional(elements.empty() ? Tensor() : elements[0]);
}

class SendingObserver final : public InferenceObserver {
 public:
  explicit SendingObserver(PipeWriter& out) : out_(out) {}
  void on_active(const std::vector<TensorInfo>& outputs) override {
    out_.value(Message::kActive);
    write_infos(out_, outputs);
  }
  void on_output(size_t output, Tensor value) override {
    out_.value(Message::kOutput);
    out_.value(output);
    write_tensor(out_, value);
  }
  void on_iteration_end(double seconds) override {
    out_.value(Message::kIterationEnd);
    out_.value(seconds);
  }

 private:
  PipeWriter& out_;
};

/// Best effort: a dead parent needs no message.
void report_to_parent(int fd, const std::exception& e) noexcept {
  try {
    PipeWriter out(fd);
    out.value(Message::kFailed);
    out.text(dynamic_cast<const Error*>(&e) != nullptr || dynamic_cast<const std::bad_alloc*>(&e) != nullptr
                 ? text_of(e)
                 : fmt::format("Internal error: {}", e.what()));
  } catch (const std::exception&) {
  }
}

[[noreturn]] void run_child(int fd, Runner& runner, ModelLoader& loader, LoaderCache& cache, int64_t warm_up,
                            RunObserver& observer) {
  int status = 1;
  try {
    PipeWriter out(fd);
    SendingObserver sender(out);
    execute_runner(runner, loader, cache, warm_up, sender, observer);
    out.value(Message::kFirstInputs);
    write_infos(out, cache.first_inputs());
    out.value(Message::kDone);
    status = 0;
  } catch (const std::exception& e) {
    report_to_parent(fd, e);
  }
  log::flush();
  trace::leave_for_parent(runner.name());
  ::_exit(status);  // resources of the parent are not destroyed here
}

/// True when the child reported completion.
bool receive(PipeReader& in, LoaderCache& cache, InferenceObserver& observer) {
  try {
    for (;;) {
      switch (in.value<Message>()) {
        case Message::kActive:
          observer.on_active(read_infos(in));
          break;
        case Message::kFirstInputs:
          cache.adopt_first_inputs(read_infos(in));
          break;
        case Message::kOutput: {
          const auto output = in.value<size_t>();
          observer.on_output(output, read_tensor(in));
          break;
        }
        case Message::kIterationEnd:
          observer.on_iteration_end(in.value<double>());
          break;
        case Message::kFailed:
          diag::message(diag::Severity::kCritical, "{}", in.text());
          return false;
        case Message::kDone:
          return true;
      }
    }
  } catch (const PipeReader::EndOfStream&) {
    return false;
  }
}

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status))
    return fmt::format("It was killed by signal {} ({}).", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
  return "Check the message logged above.";
}

}  // namespace

void execute_runner_in_subprocess(Runner& runner, ModelLoader& loader, LoaderCache& cache, int64_t warm_up,
                                  InferenceObserver& receiver, RunObserver& observer) {
  Pipe pipe;
  log::flush();
  const pid_t child = ::fork();
  require(child >= 0, ErrorCode::kIo, "cannot start a process for {}: {}", runner.name(),
          std::strerror(errno));
  if (child == 0) {
    pipe.close_reading_end();
    run_child(pipe.writing_end(), runner, loader, cache, warm_up, observer);
  }
  trace::child_started(child, runner.name());
  pipe.close_writing_end();
  PipeReader in(pipe.reading_end());
  const bool done = receive(in, cache, receiver);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  trace::child_ended(child);
  if (!done)
    fail_expected(ErrorCode::kInternal, "{:35} | Terminated prematurely. {}", runner.name(),
                  how_it_ended(status));
}

}  // namespace assay
