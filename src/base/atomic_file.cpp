#include "base/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <unordered_set>
#include <utility>

#include "assay/error.h"
#include "base/input_file.h"
#include "base/resident_memory.h"
#include "base/stale_temporaries.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

constexpr size_t kBufferBytes = 1 << 18;
/// Block size of large writes.
constexpr size_t kPieceBytes = size_t{32} << 20;

/// Once for each folder: removes leftovers of earlier processes.
void clean_once(const std::string& folder) {
  static std::mutex mutex;
  static auto* const cleaned = new std::unordered_set<std::string>;
  {
    const std::lock_guard lock(mutex);
    if (!cleaned->insert(folder).second) return;
  }
  remove_stale_temporaries(folder);
}

// The number of live InterruptDelays, whether the handler is running, and a signal that it deferred.
std::atomic<int> g_delays{0}, g_dying{0}, g_pending{0};

extern "C" void remove_temporaries_and_die(int signal) {
  g_dying.store(1);
  if (g_delays.load() > 0) {
    g_pending.store(signal);
    g_dying.store(0);
    return;
  }
  remove_live_temporaries();
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

std::string parent_of(const std::string& path) {
  const std::string parent = fs::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

void create_folder(const std::string& folder) {
  std::error_code ec;
  fs::create_directories(folder, ec);
  if (ec) fail(ErrorCode::kIo, "cannot create the folder {}: {}", folder, ec.message());
}

}  // namespace

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)) {
  std::error_code ec;
  struct stat st {};
  const bool exists = ::stat(path_.c_str(), &st) == 0;
  create_folder(parent_of(path_));
  if (exists && S_ISDIR(st.st_mode)) fail(ErrorCode::kIo, "cannot write {}: it is a folder", path_);
  if (exists && !S_ISREG(st.st_mode)) {
    open_special();
    return;
  }
  // A symbolic link stays: its target is replaced.
  if (fs::is_symlink(path_, ec)) path_ = fs::weakly_canonical(path_, ec).string();
  open_temporary(parent_of(path_), fs::path(path_).filename().string(), {});
  if (exists && st.st_size == 0) find_holder();
}

AtomicFile::AtomicFile(std::string path, const std::string& folder, const std::string& destination,
                       const TemporaryFile::Options& options)
    : path_(std::move(path)) {
  create_folder(folder);
  create_folder(parent_of(path_));
  struct stat st {};
  const bool is_there =
      ::stat(path_.c_str(), &st) == 0;  // not within require(), whose arguments have no order of evaluation
  require(!is_there || S_ISREG(st.st_mode), ErrorCode::kIo, "cannot write {}: it is {}", path_,
          kind_of_file(st.st_mode));
  clean_once(parent_of(path_));  // also_commit() may leave files there
  open_temporary(folder, destination, options);
}

AtomicFile::~AtomicFile() {
  if (special_ >= 0) ::close(special_);
}

void AtomicFile::open_temporary(const std::string& folder, const std::string& destination,
                                const TemporaryFile::Options& options) {
  clean_once(folder);
  temporary_ = std::make_unique<TemporaryFile>(folder, destination, options);
  if (const int error = temporary_->error(); error != 0) io_error(error);
  buffer_.reserve(kBufferBytes);
}

/// A device, or a pipe that has a reader.
void AtomicFile::open_special() {
  special_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (special_ < 0 && errno == ENXIO)
    fail(ErrorCode::kIo, "cannot write {}: it is a pipe or a socket, and nobody reads it", path_);
  struct stat st {};
  if (special_ < 0 || ::fstat(special_, &st) != 0) io_error(errno);
  require(!S_ISREG(st.st_mode), ErrorCode::kIo, "cannot write {}: it became another file", path_);
  ::fcntl(special_, F_SETFL, ::fcntl(special_, F_GETFL) & ~O_NONBLOCK);
  buffer_.reserve(kBufferBytes);
}

/// Only a file that no other process has open can be leased for writing. Where that cannot be determined
/// (network file systems, files of other users), a holder is assumed: an empty file has nothing to lose.
void AtomicFile::find_holder() {
  Descriptor file(::open(path_.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat st {};
  if (!file || ::fstat(file.get(), &st) != 0 || !S_ISREG(st.st_mode) || st.st_size != 0) return;
  if (::fcntl(file.get(), F_SETLEASE, F_WRLCK) != 0) held_ = std::move(file);
}

/// False when there is no holder, or the name now belongs to another file.
bool AtomicFile::fill_held() {
  struct stat mine {
  }, there{};
  if (!held_ || ::fstat(held_.get(), &mine) != 0 || ::stat(path_.c_str(), &there) != 0 ||
      mine.st_ino != there.st_ino || mine.st_dev != there.st_dev)
    return false;
  const InterruptDelay delay;
  check(temporary_->copy_into(held_.get()));
  if (is_executable_ && ::fchmod(held_.get(), (mine.st_mode & 0777) | (mine.st_mode & 0444U) >> 2) != 0)
    io_error(errno);
  return true;
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
  // Keeps pages of a mapped source file from accumulating in memory.
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
  const int fd = special_ >= 0 ? special_ : temporary_->fd();
  while (bytes > 0) {
    const ssize_t n = ::write(fd, data, std::min<size_t>(bytes, 1 << 30));
    if (n < 0) {
      if (errno == EINTR) continue;
      io_error(errno);
    }
    data += n;
    bytes -= static_cast<size_t>(n);
  }
}

void AtomicFile::prepare() {
  if (std::exchange(is_prepared_, true)) return;
  flush();
  if (special_ >= 0) {
    if (::close(std::exchange(special_, -1)) != 0) io_error(errno);
    return;
  }
  set_mode();
  if (::fsync(temporary_->fd()) != 0 && errno != EINVAL) io_error(errno);
}

/// The permissions of the file that is replaced, or those of new files. Until then it is private.
void AtomicFile::set_mode() {
  const int fd = temporary_->fd();
  struct stat old {};
  mode_t mode = temporary_->usual_mode();
  if (::stat(path_.c_str(), &old) == 0 && S_ISREG(old.st_mode)) {
    mode = old.st_mode & 0777;
    struct stat made {};
    // Group permissions apply only to that group.
    if (::fchown(fd, old.st_uid, old.st_gid) != 0 && ::fchown(fd, static_cast<uid_t>(-1), old.st_gid) != 0 &&
        ::fstat(fd, &made) == 0 && made.st_gid != old.st_gid)
      mode &= ~070U | (mode & 07U) << 3;
  }
  if (is_executable_) mode |= (mode & 0444U) >> 2;
  if (::fchmod(fd, mode) != 0) io_error(errno);
}

void AtomicFile::commit() {
  prepare();
  if (temporary_ == nullptr) return;
  if (!fill_held()) check(temporary_->move_to(path_));
  check(temporary_->close());
}

void AtomicFile::close() {
  prepare();
  check(temporary_->close());
}

void AtomicFile::publish() { check(temporary_->give_name()); }
void AtomicFile::also_commit() { check(temporary_->also_call(path_)); }
void AtomicFile::retire() { check(temporary_->remove_name()); }
void AtomicFile::keep() { temporary_->keep(); }

void AtomicFile::check(int error) {
  if (error != 0) io_error(error);
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
