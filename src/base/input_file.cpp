#include "base/input_file.h"

#include <fcntl.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "assay/error.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

/// The system's own limit.
constexpr int kMaxLinks = 40;
/// Does not block on a file that became a pipe or terminal since the check.
constexpr int kReading = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

[[noreturn]] void fail_to_open(const std::string& path, int error) {
  fail(error == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo, "cannot open {}: {}", path,
       std::strerror(error));
}

void require_regular(const std::string& path, const struct stat& st) {
  if (S_ISREG(st.st_mode)) return;
  Error e(ErrorCode::kIo, fmt::format("cannot read {}: it is {}", path, kind_of_file(st.st_mode)));
  if (S_ISFIFO(st.st_mode)) e.set_remedy("Write what comes out of it to a file, and name that.");
  throw e;
}

std::string link_target(int link) {
  std::array<char, 4096> text{};
  const ssize_t n = ::readlinkat(link, "", text.data(), text.size());
  return n > 0 ? std::string(text.data(), static_cast<size_t>(n)) : std::string();
}

/// Follows a location inside a folder.
class Walk {
 public:
  Walk(const std::string& folder, const std::string& location)
      : path_((fs::path(folder) / location).string()) {
    std::error_code ec;
    root_ = fs::canonical(folder, ec);
    folders_.emplace_back(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    push(location);
  }

  BeneathResult open() {
    if (!folders_.back()) return missing(errno);
    while (!rest_.empty()) {
      const std::string name = rest_.back();
      rest_.pop_back();
      if (name.empty() || name == ".") continue;
      if (name == "..") {
        if (folders_.size() == 1) return outside();
        folders_.pop_back();
        continue;
      }
      Descriptor at(::openat(folders_.back().get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
      struct stat st {};
      if (!at || ::fstat(at.get(), &st) != 0) return missing(errno);
      if (S_ISLNK(st.st_mode)) {
        if (!follow(link_target(at.get()))) return outside();
      } else if (S_ISDIR(st.st_mode)) {
        folders_.push_back(std::move(at));
      } else {
        return file(name, st);
      }
    }
    fail(ErrorCode::kIo, "cannot read {}: it is a folder", path_);
  }

 private:
  void push(const fs::path& parts) {
    const std::vector<fs::path> list(parts.begin(), parts.end());
    for (auto it = list.rbegin(); it != list.rend(); ++it) rest_.push_back(it->string());
  }
  /// Returns false for a link that leads out of the folder.
  bool follow(const std::string& target) {
    if (++links_ > kMaxLinks) fail_to_open(path_, ELOOP);
    link_ = target;
    fs::path parts(target);
    if (parts.is_absolute()) {
      parts = parts.lexically_relative(root_);
      if (parts.empty() || *parts.begin() == "..") return false;
      folders_.erase(folders_.begin() + 1, folders_.end());
    }
    push(parts);
    return true;
  }
  BeneathResult file(const std::string& name, const struct stat& seen) {
    if (!rest_.empty()) fail_to_open(path_, ENOTDIR);
    require_regular(path_, seen);
    Descriptor opened(::openat(folders_.back().get(), name.c_str(), kReading | O_NOFOLLOW));
    struct stat st {};
    if (!opened || ::fstat(opened.get(), &st) != 0) fail_to_open(path_, errno);
    require_regular(path_, st);
    return {.status = BeneathResult::Status::kOpen, .file = std::move(opened), .link = {}};
  }
  BeneathResult missing(int error) {
    if (error != ENOENT && error != ENOTDIR) fail_to_open(path_, error);
    return {.status = BeneathResult::Status::kMissing, .file = Descriptor(), .link = {}};
  }
  BeneathResult outside() {
    return {.status = BeneathResult::Status::kOutside, .file = Descriptor(), .link = link_};
  }

  std::string path_, link_;
  fs::path root_;
  std::vector<Descriptor> folders_;
  std::vector<std::string> rest_;  // last one first
  int links_ = 0;
};

}  // namespace

const char* kind_of_file(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "a device";
  if (S_ISSOCK(mode)) return "a socket";
  return S_ISREG(mode) ? "a regular file" : "something other than a file";
}

Descriptor open_input(const std::string& path) {
  struct stat st {};
  if (::stat(path.c_str(), &st) != 0) fail_to_open(path, errno);
  require_regular(path, st);
  Descriptor file(::open(path.c_str(), kReading));
  if (!file || ::fstat(file.get(), &st) != 0) fail_to_open(path, errno);
  require_regular(path, st);
  return file;
}

BeneathResult open_input_beneath(const std::string& folder, const std::string& location) {
  return Walk(folder, location).open();
}

}  // namespace assay
