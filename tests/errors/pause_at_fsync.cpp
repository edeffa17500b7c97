// Preloaded by matrix_test.py: stops the program in the middle of writing a file, when all is written and
// before it is in its place.
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

/// At its PAUSE_AT-th call (default: the first) makes the file `$PAUSE_FILE.<pid>` and waits while
/// `$PAUSE_FILE.hold` exists.
extern "C" __attribute__((visibility("default"))) int fsync(int fd) {
  static int calls = 0;
  const char* name = std::getenv("PAUSE_FILE");
  const char* at = std::getenv("PAUSE_AT");
  if (name != nullptr && ++calls == (at != nullptr ? std::atoi(at) : 1)) {
    const std::string file = name;
    ::close(::open((file + "." + std::to_string(::getpid())).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
    while (::access((file + ".hold").c_str(), F_OK) == 0) ::usleep(1000);
  }
  return reinterpret_cast<int (*)(int)>(::dlsym(RTLD_NEXT, "fsync"))(fd);
}
