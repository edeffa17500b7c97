#include "base/temporary_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <utility>

namespace assay {
namespace {

namespace fs = std::filesystem;

/// No system call takes a longer path.
constexpr size_t kPathBytes = 4096;
constexpr int kAttempts = 16;

}  // namespace

/// A name for the signal handler, which may neither lock nor allocate: an entry of a list that is never
/// freed, only reused.
struct TemporaryFile::Slot {
  std::atomic<int> state{1};  // 0 free, 1 being changed, 2 live
  std::array<char, kPathBytes> name{};
  Slot* next = nullptr;
};

namespace {

using Slot = TemporaryFile::Slot;
std::atomic<Slot*> g_slots{nullptr};
std::atomic<int> g_free_slots{0};

Slot* claim_slot() {
  for (Slot* s = g_free_slots.load() > 0 ? g_slots.load() : nullptr; s != nullptr; s = s->next) {
    int expected = 0;
    if (!s->state.compare_exchange_strong(expected, 1)) continue;
    g_free_slots.fetch_sub(1);
    return s;
  }
  Slot* fresh = new Slot;
  fresh->next = g_slots.load();
  while (!g_slots.compare_exchange_weak(fresh->next, fresh)) {
  }
  return fresh;
}

/// Null for a path that is too long to be one.
Slot* remember(const std::string& name) {
  if (name.size() >= kPathBytes) return nullptr;
  Slot* s = claim_slot();
  std::memcpy(s->name.data(), name.c_str(), name.size() + 1);
  s->state.store(2);
  return s;
}

void forget(Slot* s) {
  if (s == nullptr) return;
  s->state.store(0);
  g_free_slots.fetch_add(1);
}

mode_t mode_of_new_files() {
  static const mode_t mode = [] {
    const mode_t mask = ::umask(077);
    ::umask(mask);
    return 0666 & ~mask;
  }();
  return mode;
}

bool has_no_links(int error) {
  return error == EPERM || error == EOPNOTSUPP || error == ENOSYS || error == EXDEV || error == EMLINK;
}

int copy_contents(int from, int to) {
  constexpr size_t kPiece = 1 << 20;
  const auto piece = std::make_unique<char[]>(kPiece);
  for (off_t at = 0;;) {
    const ssize_t got = ::pread(from, piece.get(), kPiece, at);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got < 0 ? errno : 0;
    for (ssize_t done = 0; done < got;) {
      const ssize_t put = ::write(to, piece.get() + done, static_cast<size_t>(got - done));
      if (put < 0 && errno != EINTR) return errno;
      if (put > 0) done += put;
    }
    at += got;
  }
}

}  // namespace

TemporaryFile::TemporaryFile(std::string folder, std::string_view destination, const Options& options)
    : folder_(folder.empty() ? "." : std::move(folder)),
      destination_(destination),
      name_(temporary_name(options.kind, options.writer, destination)),
      options_(options) {
  if (!options_.is_named && open_nameless()) return;
  if (error_ == 0 && !open_named() && error_ == 0) error_ = errno;
}

/// False, without an error, where such files are not supported.
bool TemporaryFile::open_nameless() {
  file_ = Descriptor(::open(folder_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666));
  if (!file_) {
    if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL && errno != ENOENT) error_ = errno;
    return false;
  }
  struct stat st {};
  const std::string self = "/proc/self/fd/" + std::to_string(fd());
  if (::access(self.c_str(), F_OK) != 0 || ::fstat(fd(), &st) != 0) {  // no way to name it later
    file_ = Descriptor();
    return false;
  }
  // Only the system knows the default permissions here, beyond the mask; others do not see the file.
  usual_mode_ = st.st_mode & 0777;
  ::fchmod(fd(), 0600);
  ::flock(fd(), LOCK_EX | LOCK_NB);
  return true;
}

bool TemporaryFile::open_named() {
  usual_mode_ = mode_of_new_files();
  for (int i = 0; i < kAttempts; ++i) {
    slot_ = remember(path());
    file_ = Descriptor(::open(path().c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    struct stat st {};
    // Before it was locked, another process may have removed it as stale.
    const bool is_locked = file_ && (::flock(fd(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK);
    has_name_ = is_locked && ::fstat(fd(), &st) == 0 && st.st_nlink > 0;
    if (has_name_) return true;
    error_ = !file_ && errno != EEXIST ? errno : 0;
    forget(std::exchange(slot_, nullptr));
    if (error_ != 0) return false;
    options_.writer = new_writer_id();
    name_ = temporary_name(options_.kind, options_.writer, destination_);
  }
  error_ = EEXIST;
  return false;
}

TemporaryFile::~TemporaryFile() {
  if (has_name_) remove_name();
}

int TemporaryFile::close() {
  if (!file_) return 0;
  return ::close(file_.release()) == 0 ? 0 : errno;
}

int TemporaryFile::link_as(const std::string& path) const {
  const std::string self = has_name_ ? this->path() : "/proc/self/fd/" + std::to_string(fd());
  const int flags = has_name_ ? 0 : AT_SYMLINK_FOLLOW;
  return ::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, path.c_str(), flags) == 0 ? 0 : errno;
}

int TemporaryFile::give_name() {
  if (has_name_) return 0;
  slot_ = remember(path());
  const int error = link_as(path());
  has_name_ = error == 0;
  if (!has_name_) forget(std::exchange(slot_, nullptr));
  return error;
}

int TemporaryFile::move_to(const std::string& path) {
  if (!has_name_) {
    const int error = link_as(path);
    if (error != EEXIST) return error != 0 && has_no_links(error) ? copy_to(path) : error;
    if (const int other = give_name(); other != 0) return other;
  }
  if (::rename(this->path().c_str(), path.c_str()) != 0) return errno;
  keep();
  return 0;
}

int TemporaryFile::also_call(const std::string& path) {
  int error = link_as(path);
  if (error == EEXIST) {
    const std::string folder = fs::path(path).parent_path().string();
    const std::string other =
        (folder.empty() ? "." : folder) + "/" +
        temporary_name(TemporaryKind::kFile, options_.writer, fs::path(path).filename().string());
    Slot* slot = remember(other);
    error = link_as(other);
    // If both are already the same file, rename() leaves both names.
    if (error == 0 && ::rename(other.c_str(), path.c_str()) != 0) error = errno;
    ::unlink(other.c_str());
    forget(slot);
  }
  return has_no_links(error) ? copy_to(path) : error;
}

int TemporaryFile::copy_to(const std::string& path) {
  const fs::path to(path);
  TemporaryFile copy(to.parent_path().string(), to.filename().string(), {.is_named = true});
  if (copy.error() != 0) return copy.error();
  Descriptor reopened(file_ ? -1 : ::open(this->path().c_str(), O_RDONLY | O_CLOEXEC));
  const int from = file_ ? fd() : reopened.get();
  struct stat st {};
  if (::fstat(from, &st) != 0) return errno;
  if (const int error = copy_contents(from, copy.fd()); error != 0) return error;
  if (::fchmod(copy.fd(), st.st_mode & 0777) != 0 || ::fsync(copy.fd()) != 0) return errno;
  return copy.move_to(path);
}

int TemporaryFile::copy_into(int other) const {
  if (::ftruncate(other, 0) != 0 || ::lseek(other, 0, SEEK_SET) < 0) return errno;
  int error = copy_contents(fd(), other);
  if (error == 0 && ::fsync(other) != 0 && errno != EINVAL) error = errno;
  if (error != 0 && ::ftruncate(other, 0) != 0) return error;
  return error;
}

int TemporaryFile::remove_name() {
  if (!has_name_) return 0;
  const int error = ::unlink(path().c_str()) == 0 ? 0 : errno;
  keep();
  return error;
}

void TemporaryFile::keep() {
  if (!has_name_) return;
  forget(std::exchange(slot_, nullptr));
  has_name_ = false;
}

void remove_live_temporaries() {
  for (Slot* s = g_slots.load(); s != nullptr; s = s->next)
    if (s->state.load() == 2) ::unlink(s->name.data());
}

}  // namespace assay
