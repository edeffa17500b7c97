#include "base/nameless_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/stale_temporaries.h"
#include "base/temporary_name.h"

namespace assay {
namespace {

std::string temporary_folder() {
  const char* chosen = std::getenv("TMPDIR");
  return chosen != nullptr && *chosen != '\0' ? chosen : "/var/tmp";
}

int open_nameless(const std::string& folder) {
  int fd = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) return fd;
  // A process that is killed here leaves an empty file, which the next one recognizes by its name.
  remove_stale_temporaries(folder);
  const std::string name = folder + "/" + temporary_name(TemporaryKind::kFile, new_writer_id(), "tensors");
  fd = ::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd >= 0) ::unlink(name.c_str());
  return fd;
}

}  // namespace

size_t page_size() {
  static const auto size = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

size_t whole_pages(size_t bytes) { return (bytes + page_size() - 1) / page_size() * page_size(); }

NamelessFile::NamelessFile() : folder_(temporary_folder()), fd_(open_nameless(folder_)) {
  if (fd_ < 0) fail_with("make a temporary file for tensors", errno);
}

NamelessFile::~NamelessFile() { ::close(fd_); }

void NamelessFile::punch(size_t offset, size_t bytes) const {
  [[maybe_unused]] const int result =
      ::fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                  static_cast<off_t>(whole_pages(bytes)));
}

void NamelessFile::fail_with(std::string_view what, int error) const {
  Error e(ErrorCode::kIo, fmt::format("cannot {} in {}: {}", what, folder_, std::strerror(error)));
  e.set_remedy("Set TMPDIR to a folder with more room.");
  throw e;
}

}  // namespace assay
