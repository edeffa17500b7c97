// Temporary disk space that is freed with the process, however it ends.
#pragma once

#include <cstddef>
#include <string>

#include "assay/error.h"

namespace assay {

/// An unlinked file in the folder TMPDIR (default /var/tmp).
class NamelessFile {
 public:
  /// Throws Error (kIo) that names the folder.
  NamelessFile();
  ~NamelessFile();
  NamelessFile(const NamelessFile&) = delete;
  NamelessFile& operator=(const NamelessFile&) = delete;

  int fd() const { return fd_; }
  /// Frees the space of a range; reading it then gives zeros. `offset` is a multiple of the page size. On a
  /// file system without holes, the space is freed with the file.
  void punch(size_t offset, size_t bytes) const;
  /// "cannot <what> in <folder>: <reason of errno value `error`>", with the remedy.
  [[noreturn]] void fail_with(std::string_view what, int error) const;

 private:
  std::string folder_;
  int fd_;
};

size_t page_size();
/// `bytes` rounded up to pages.
size_t whole_pages(size_t bytes);

}  // namespace assay
