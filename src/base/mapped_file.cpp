#include "base/mapped_file.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "assay/error.h"
#include "base/input_file.h"

namespace assay {

std::shared_ptr<const MappedFile> MappedFile::open(const std::string& path) { return map(open_input(path), path); }

std::shared_ptr<const MappedFile> MappedFile::map(const Descriptor& opened, const std::string& path) {
  std::shared_ptr<MappedFile> file(new MappedFile);
  file->path_ = path;
  struct stat& st = file->stat_;
  require(::fstat(opened.get(), &st) == 0, ErrorCode::kIo, "cannot read {}: {}", path, std::strerror(errno));
  file->size_ = static_cast<size_t>(st.st_size);
  if (file->size_ == 0) return file;
  void* p = ::mmap(nullptr, file->size_, PROT_READ, MAP_PRIVATE, opened.get(), 0);
  require(p != MAP_FAILED, ErrorCode::kIo, "cannot map {}: {}", path, std::strerror(errno));
  file->data_ = static_cast<const char*>(p);
  file->reclaimable_.emplace(p, file->size_);
  return file;
}

bool MappedFile::is_still_there() const {
  struct stat now {};
  return ::stat(path_.c_str(), &now) == 0 && now.st_dev == stat_.st_dev && now.st_ino == stat_.st_ino &&
         now.st_size == stat_.st_size && now.st_mtim.tv_sec == stat_.st_mtim.tv_sec &&
         now.st_mtim.tv_nsec == stat_.st_mtim.tv_nsec;
}

MappedFile::~MappedFile() {
  reclaimable_.reset();
  if (data_ != nullptr) ::munmap(const_cast<char*>(data_), size_);
}

}  // namespace assay
