#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

#include "assay/error.h"

namespace assay {
namespace {

/// The last page of a mapping has room behind the file. With the address sanitizer, reading there is a fault, as it is
/// for bytes in a block of their own.
void forbid_rest_of_page([[maybe_unused]] const char* data, [[maybe_unused]] size_t size, [[maybe_unused]] bool forbid) {
#ifdef __SANITIZE_ADDRESS__
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const size_t rest = (page - size % page) % page;
  if (forbid)
    ASAN_POISON_MEMORY_REGION(data + size, rest);
  else
    ASAN_UNPOISON_MEMORY_REGION(data + size, rest);
#endif
}

}  // namespace

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
    forbid_rest_of_page(file->data_, file->size_, true);
    file->reclaimable_.emplace(p, file->size_);
  } else {
    ::close(fd);
  }
  return file;
}

MappedFile::~MappedFile() {
  reclaimable_.reset();
  if (data_ == nullptr) return;
  forbid_rest_of_page(data_, size_, false);
  ::munmap(const_cast<char*>(data_), size_);
}

}  // namespace assay
