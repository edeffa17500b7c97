#include "base/stale_temporaries.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "base/descriptor.h"
#include "base/mapped_file.h"
#include "base/temporary_name.h"

namespace assay {
namespace {

constexpr time_t kDay = 24 * 60 * 60;
/// No model is larger, in no form.
constexpr off_t kLargestModel = off_t{1} << 31;

struct Found {
  std::string name;
  TemporaryName parts;
  Descriptor file;
  ino_t inode = 0;
};

/// The folder's names; none when it cannot be read.
std::vector<std::string> names_in(int folder) {
  std::vector<std::string> names;
  Descriptor again(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::unique_ptr<DIR, int (*)(DIR*)> list(again ? ::fdopendir(again.get()) : nullptr, ::closedir);
  if (list == nullptr) return names;
  again.release();
  while (const dirent* entry = ::readdir(list.get())) names.emplace_back(entry->d_name);
  return names;
}

/// Locks the file unless another process holds it, or it is not certainly ours and stale.
bool claim(int folder, Found& f) {
  for (const int access : {O_RDWR, O_RDONLY}) {
    f.file =
        Descriptor(::openat(folder, f.name.c_str(), access | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (f.file || errno != EACCES) break;
  }
  struct stat st {};
  if (!f.file || ::fstat(f.file.get(), &st) != 0 || !S_ISREG(st.st_mode) || st.st_uid != ::geteuid())
    return false;
  f.inode = st.st_ino;
  if (!f.parts.is_of_this_boot() && std::time(nullptr) - st.st_mtime < kDay) return false;
  return ::flock(f.file.get(), LOCK_EX | LOCK_NB) == 0;
}

/// True when a file in the folder contains the name.
bool is_named(int folder, const std::vector<std::string>& names, const std::string& name) {
  return std::any_of(names.begin(), names.end(), [&](const std::string& other) {
    if (parse_temporary_name(other)) return false;
    const Descriptor file(::openat(folder, other.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    struct stat st {};
    if (!file || ::fstat(file.get(), &st) != 0 || !S_ISREG(st.st_mode) || st.st_size > kLargestModel)
      return false;
    return MappedFile::map(file, other)->bytes().find(name) != std::string_view::npos;
  });
}

void remove_group(int folder, const std::vector<std::string>& names, std::vector<Found>& group) {
  // One at a time: there may be more than a process may have open.
  for (Found& f : group) {
    if (!claim(folder, f)) return;
    f.file = Descriptor();
  }
  for (Found& f : group) {
    // Again, as a writer that is just beginning locks its file and looks whether it still has a name.
    if (!claim(folder, f)) continue;
    struct stat st {};
    if (::fstatat(folder, f.name.c_str(), &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_ino == f.inode &&
        (f.parts.kind != TemporaryKind::kData || !is_named(folder, names, f.name)))
      ::unlinkat(folder, f.name.c_str(), 0);
    f.file = Descriptor();
  }
}

}  // namespace

void remove_stale_temporaries(const std::string& folder) {
  const Descriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened) return;
  const std::vector<std::string> names = names_in(opened.get());
  std::map<uint64_t, std::vector<Found>> groups;
  for (const std::string& name : names)
    if (const auto parts = parse_temporary_name(name))
      groups[parts->writer].push_back({name, *parts, Descriptor(), 0});
  for (auto& [writer, group] : groups) remove_group(opened.get(), names, group);
}

}  // namespace assay
