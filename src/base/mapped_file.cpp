#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "assay/error.h"

namespace assay {

std::shared_ptr<const MappedFile> MappedFile::open(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    const int e = errno;
    fail(e == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo, "cannot open {}: {}", path, std::strerror(e));
  }
  struct stat st {};
  const bool known = ::fstat(fd, &st) == 0;
  if (!known || !S_ISREG(st.st_mode)) {
    ::close(fd);
    fail(ErrorCode::kIo, "cannot read {}: it is {}", path,
         known && S_ISDIR(st.st_mode) ? "a folder" : "not a regular file");
  }
  std::shared_ptr<MappedFile> file(new MappedFile);
  file->path_ = path;
  file->size_ = static_cast<size_t>(st.st_size);
  if (file->size_ > 0) {
    void* p = ::mmap(nullptr, file->size_, PROT_READ, MAP_PRIVATE, fd, 0);
    const int e = errno;
    ::close(fd);
    require(p != MAP_FAILED, ErrorCode::kIo, "cannot map {}: {}", path, std::strerror(e));
    file->data_ = static_cast<const char*>(p);
    file->reclaimable_.emplace(p, file->size_);
  } else {
    ::close(fd);
  }
  return file;
}

MappedFile::~MappedFile() {
  reclaimable_.reset();
  if (data_ != nullptr) ::munmap(const_cast<char*>(data_), size_);
}

}  // namespace assay
