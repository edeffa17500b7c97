// Read-only memory-mapped files.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/descriptor.h"
#include "base/resident_memory.h"

namespace assay {

/// A whole file mapped read-only. Pages are read when they are touched.
/// If they are gone because the file was truncated, the process
/// reports it, removes its temporary files and ends with exit code 1.
class MappedFile {
 public:
  /// Throws Error (kNotFound, kIo) that names the path. An empty file maps to zero bytes.
  static std::shared_ptr<const MappedFile> open(const std::string& path);
  /// The same for an open file; `path` is its name. Throws Error (kIo).
  static std::shared_ptr<const MappedFile> map(const Descriptor& opened, const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::string& path() const { return path_; }
  const char* data() const { return data_; }
  size_t size() const { return size_; }
  std::string_view bytes() const { return {data_, size_}; }
  /// The number of hard links of the file.
  size_t names() const { return stat_.st_nlink; }
  /// False when the file was replaced or written to since it was mapped.
  bool is_still_there() const;
  /// Gives the resident pages of a range back to the system; the next touch reads them again.
  void drop_pages(const void* first, size_t bytes) const { drop_resident_pages(first, bytes); }

  struct Mapping;  ///< its entry for the signal handler

 private:
  MappedFile() = default;
  std::string path_;
  const char* data_ = nullptr;
  size_t size_ = 0;
  struct stat stat_ {};
  std::optional<ReclaimableRange> reclaimable_;
  Mapping* mapping_ = nullptr;
};

}  // namespace assay
