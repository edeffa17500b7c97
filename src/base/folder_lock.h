// Keeps other processes of this program from changing a folder's files between two steps.
#pragma once

#include <string>

namespace assay {

/// Held for its lifetime; blocks while another process has it. Advisory (flock), released with the process,
/// and leaves no file. On a file system without locks it silently has no effect.
class FolderLock {
 public:
  explicit FolderLock(const std::string& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int fd_;
};

}  // namespace assay
