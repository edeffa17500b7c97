#include "base/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>

#include "assay/error.h"
#include "base/resident_memory.h"

namespace assay {
namespace {

constexpr size_t kBufferBytes = 1 << 18;
/// No system call takes a longer path.
constexpr size_t kPathBytes = 4096;
/// So much of a large write is done at a time.
constexpr size_t kPieceBytes = size_t{32} << 20;

/// Names of temporary files for the signal handler, which may neither lock nor allocate: a list whose members
/// stay for ever, are claimed by exchanging their state, and are used again.
struct Slot {
  std::atomic<int> state{1};  // 0 free, 1 being changed, 2 live
  std::array<char, kPathBytes> name{};
  Slot* next = nullptr;
};
std::atomic<Slot*> g_slots{nullptr};

Slot* claim_slot() {
  for (Slot* s = g_slots.load(); s != nullptr; s = s->next) {
    int expected = 0;
    if (s->state.compare_exchange_strong(expected, 1)) return s;
  }
  Slot* fresh = new Slot;
  fresh->next = g_slots.load();
  while (!g_slots.compare_exchange_weak(fresh->next, fresh)) {
  }
  return fresh;
}

void remember(const std::string& name) {
  if (name.size() >= kPathBytes) return;
  Slot* s = claim_slot();
  std::memcpy(s->name.data(), name.c_str(), name.size() + 1);
  s->state.store(2);
}

void forget(const std::string& name) {
  for (Slot* s = g_slots.load(); s != nullptr; s = s->next)
    if (s->state.load() == 2 && name == s->name.data()) {
      s->state.store(0);
      return;
    }
}

// How many InterruptDelays live, whether the handler is at work, and what it found too early to act on.
std::atomic<int> g_delays{0}, g_dying{0}, g_pending{0};

extern "C" void remove_temporaries_and_die(int signal) {
  g_dying.store(1);
  if (g_delays.load() > 0) {
    g_pending.store(signal);
    g_dying.store(0);
    return;
  }
  for (Slot* s = g_slots.load(); s != nullptr; s = s->next)
    if (s->state.load() == 2) ::unlink(s->name.data());
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

}  // namespace

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)) {
  namespace fs = std::filesystem;
  std::error_code ec;
  const fs::path parent = fs::path(path_).parent_path();
  if (!parent.empty()) {
    fs::create_directories(parent, ec);
    if (ec) fail(ErrorCode::kIo, "cannot create the folder {}: {}", parent.string(), ec.message());
  }
  if (fs::is_directory(path_, ec)) fail(ErrorCode::kIo, "cannot write {}: it is a folder", path_);
  const bool special = fs::exists(path_, ec) && !fs::is_regular_file(path_, ec);
  if (special) {
    fd_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    // A link keeps pointing where it did: the file it names is replaced.
    if (fs::is_symlink(path_, ec)) path_ = fs::weakly_canonical(path_, ec).string();
    temporary_ = path_ + "." + std::to_string(::getpid()) + ".tmp";
    fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd_ >= 0) remember(temporary_);
  }
  if (fd_ < 0) {
    const int e = errno;
    temporary_.clear();
    io_error(e);
  }
  buffer_.reserve(kBufferBytes);
}

AtomicFile::~AtomicFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) {
    ::unlink(temporary_.c_str());
    forget(temporary_);
  }
}

void AtomicFile::io_error(int error) {
  fail(ErrorCode::kIo, "cannot write {}: {}", path_, std::strerror(error));
}

void AtomicFile::write(std::string_view bytes) {
  size_ += bytes.size();
  if (buffer_.size() + bytes.size() <= kBufferBytes) {
    buffer_ += bytes;
    return;
  }
  flush();
  if (bytes.size() < kBufferBytes) {
    buffer_ += bytes;
    return;
  }
  // What comes out of a mapped file does not pile up in memory.
  const bool reclaimable = is_reclaimable(bytes.data());
  for (size_t at = 0; at < bytes.size(); at += kPieceBytes) {
    const std::string_view piece = bytes.substr(at, kPieceBytes);
    write_fully(piece.data(), piece.size());
    if (reclaimable) drop_resident_pages(piece.data(), piece.size());
  }
}

void AtomicFile::flush() {
  write_fully(buffer_.data(), buffer_.size());
  buffer_.clear();
}

void AtomicFile::write_fully(const char* data, size_t bytes) {
  while (bytes > 0) {
    const ssize_t n = ::write(fd_, data, std::min<size_t>(bytes, 1 << 30));
    if (n < 0) {
      if (errno == EINTR) continue;
      io_error(errno);
    }
    data += n;
    bytes -= static_cast<size_t>(n);
  }
}

void AtomicFile::prepare() {
  if (fd_ < 0) return;
  flush();
  if (!temporary_.empty() && ::fsync(fd_) != 0 && errno != EINVAL) io_error(errno);
  const int fd = fd_;
  fd_ = -1;
  if (::close(fd) != 0) io_error(errno);
  struct stat st {};
  if (!temporary_.empty() && ::stat(path_.c_str(), &st) == 0) ::chmod(temporary_.c_str(), st.st_mode & 07777);
}

void AtomicFile::commit() {
  prepare();
  if (temporary_.empty()) return;
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) io_error(errno);
  forget(temporary_);
  temporary_.clear();
}

InterruptDelay::InterruptDelay() {
  g_delays.fetch_add(1);
  // A handler on another thread either sees this delay or ends the process.
  while (g_dying.load() != 0) ::usleep(100);
}

InterruptDelay::~InterruptDelay() {
  if (g_delays.fetch_sub(1) > 1) return;
  if (const int signal = g_pending.exchange(0); signal != 0) ::raise(signal);
}

void install_interrupt_cleanup() {
  for (const int s : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction old {};
    ::sigaction(s, nullptr, &old);
    if (old.sa_handler != SIG_DFL) continue;
    struct sigaction action {};
    action.sa_handler = remove_temporaries_and_die;
    ::sigaction(s, &action, nullptr);
  }
}

}  // namespace assay
