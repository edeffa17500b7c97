// Preloaded by kill_test.py: kills the program at one of its system calls, or lets it run on a file system
// that can less.
//
// KILL_AT=N        before the N-th call that opens for writing, names, renames, removes or syncs a file
// KILL_CALLS=all   counts calls that write or open for reading, too
// KILL_COUNT=FILE  gets the number of calls at the end of the process
// NO_TMPFILE, NO_LINKS   there are no nameless files, no second names
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

std::atomic<int> g_calls{0};
// Children that the program starts are left alone.
const pid_t g_process = ::getpid();

bool counts_all() {
  const char* calls = std::getenv("KILL_CALLS");
  return calls != nullptr && std::strcmp(calls, "all") == 0;
}

void count() {
  if (::getpid() != g_process) return;
  const char* at = std::getenv("KILL_AT");
  if (++g_calls == (at != nullptr ? std::atoi(at) : 0)) ::kill(::getpid(), SIGKILL);
}

/// The one of the C library.
template <typename Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

bool is_refused(int flags) {
  if ((flags & O_TMPFILE) != O_TMPFILE || std::getenv("NO_TMPFILE") == nullptr) return false;
  errno = EOPNOTSUPP;
  return true;
}

void count_open(int flags) {
  if (counts_all() || (flags & O_ACCMODE) != O_RDONLY) count();
}

bool has_no_links() {
  if (std::getenv("NO_LINKS") == nullptr) return false;
  errno = EPERM;
  return true;
}

struct AtExit {
  ~AtExit() {
    const char* name = std::getenv("KILL_COUNT");
    if (name == nullptr || ::getpid() != g_process) return;
    if (std::FILE* file = std::fopen(name, "w"); file != nullptr) {
      std::fprintf(file, "%d", g_calls.load());
      std::fclose(file);
    }
  }
} g_at_exit;

}  // namespace

extern "C" {
#pragma GCC visibility push(default)

int open(const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const mode_t mode = va_arg(list, mode_t);
  va_end(list);
  count_open(flags);
  return is_refused(flags) ? -1 : real<int(const char*, int, ...)>("open")(path, flags, mode);
}
int openat(int folder, const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const mode_t mode = va_arg(list, mode_t);
  va_end(list);
  count_open(flags);
  return is_refused(flags) ? -1 : real<int(int, const char*, int, ...)>("openat")(folder, path, flags, mode);
}
int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) noexcept {
  count();
  if (has_no_links()) return -1;
  return real<int(int, const char*, int, const char*, int)>("linkat")(from_folder, from, to_folder, to,
                                                                      flags);
}
int rename(const char* from, const char* to) noexcept {
  count();
  return real<int(const char*, const char*)>("rename")(from, to);
}
int unlink(const char* path) noexcept {
  count();
  return real<int(const char*)>("unlink")(path);
}
int unlinkat(int folder, const char* path, int flags) noexcept {
  count();
  return real<int(int, const char*, int)>("unlinkat")(folder, path, flags);
}
int fchmod(int fd, mode_t mode) noexcept {
  count();
  return real<int(int, mode_t)>("fchmod")(fd, mode);
}
int fsync(int fd) {
  count();
  return real<int(int)>("fsync")(fd);
}
ssize_t write(int fd, const void* data, size_t size) {
  if (counts_all()) count();
  return real<ssize_t(int, const void*, size_t)>("write")(fd, data, size);
}

#pragma GCC visibility pop
}
