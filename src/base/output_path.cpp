#include "base/output_path.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>

#include "assay/error.h"
#include "base/descriptor.h"
#include "base/input_file.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

std::string folder_above(const std::string& path) {
  const std::string parent = fs::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  fail(ErrorCode::kIo, "cannot write {}: {}", path, why);
}

/// The name of a pseudo file system of the kernel; null for any other. Their folders look
/// writable to root.
const char* kernel_file_system(const std::string& folder) {
  constexpr std::pair<unsigned long, const char*> kKnown[] = {
      {0x9fa0, "proc"},        {0x62656572, "sysfs"},      {0x27e0eb, "cgroup"}, {0x63677270, "cgroup2"},
      {0x64626720, "debugfs"}, {0x73636673, "securityfs"}, {0x1cd1, "devpts"},   {0x74726163, "tracefs"},
  };
  struct statfs system {};
  if (::statfs(folder.c_str(), &system) != 0) return nullptr;
  const auto known = std::find_if(std::begin(kKnown), std::end(kKnown), [&](const auto& k) {
    return k.first == (static_cast<unsigned long>(system.f_type) & 0xffffffffUL);
  });
  return known == std::end(kKnown) ? nullptr : known->second;
}

/// Checks that an existing folder is writable, by creating a file without a name.
void check_can_create(const std::string& path, const std::string& folder) {
  if (const char* system = kernel_file_system(folder); system != nullptr)
    refuse(path, fmt::format("{} is of the file system {}, where nobody but the kernel makes files", folder,
                             system));
  const Descriptor nameless(::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
  if (nameless) return;
  const int error = errno;
  // Not every file system has files without names.
  const bool has_none = error == EOPNOTSUPP || error == EISDIR || error == EINVAL || error == ENOENT;
  if (!has_none) refuse(path, std::strerror(error));
  if (::access(folder.c_str(), W_OK | X_OK) != 0) refuse(path, std::strerror(errno));
}

/// Requires that `folder` exists or can be created.
void check_folder(const std::string& path, const std::string& folder) {
  struct stat st {};
  std::string nearest = folder;
  while (::stat(nearest.c_str(), &st) != 0) {
    if (errno != ENOENT)
      fail(ErrorCode::kIo, "cannot create the folder {}: {}", folder, std::strerror(errno));
    if (::lstat(nearest.c_str(), &st) == 0)  // a link to nowhere
      fail(ErrorCode::kIo, "cannot create the folder {}: {}", folder, std::strerror(ENOENT));
    const std::string above = folder_above(nearest);
    if (above == nearest) refuse(path, std::strerror(ENOENT));
    nearest = above;
  }
  if (!S_ISDIR(st.st_mode))
    fail(ErrorCode::kIo, "cannot create the folder {}: {}", folder, std::strerror(ENOTDIR));
  check_can_create(path, nearest);
}

}  // namespace

void check_output_file(const std::string& given) {
  require(!given.empty(), ErrorCode::kInvalidArgument, "'' is no name for a file");
  std::string path = given;
  struct stat st {};
  const int found = ::stat(path.c_str(), &st);
  const int error = errno;
  if (found != 0 && error == ENOTDIR)
    fail(ErrorCode::kIo, "cannot create the folder {}: {}", folder_above(path), std::strerror(error));
  if (found != 0 && error != ENOENT) refuse(path, std::strerror(error));
  if (found == 0 && (S_ISDIR(st.st_mode) || S_ISSOCK(st.st_mode)))
    refuse(path, fmt::format("it is {}", kind_of_file(st.st_mode)));
  if (found != 0 && path.back() == '/') refuse(path, "the name is that of a folder");
  if (found == 0 && !S_ISREG(st.st_mode)) {
    if (::access(path.c_str(), W_OK) != 0) refuse(path, std::strerror(errno));
    return;
  }
  // The target of a link is replaced or created.
  std::error_code ec;
  for (int links = 0; links < 40 && fs::is_symlink(path, ec); ++links)
    path = (fs::path(folder_above(path)) / fs::read_symlink(path, ec)).string();
  check_folder(given, folder_above(path));
}

void check_output_folder(const std::string& path) {
  require(!path.empty(), ErrorCode::kInvalidArgument, "'' is no name for a folder");
  struct stat st {};
  if (::stat(path.c_str(), &st) == 0 && !S_ISDIR(st.st_mode))
    fail(ErrorCode::kIo, "cannot make the folder {}: it is {}", path, kind_of_file(st.st_mode));
  check_folder(path, path);
}

bool is_special_file(const std::string& path) {
  struct stat st {};
  return ::stat(path.c_str(), &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

}  // namespace assay
