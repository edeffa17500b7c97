// Keeps other processes of this program from changing a folder's files between two steps.
#pragma once

#include <string>

namespace assay {

/// Held while it lives; waits for the one who has it. Advisory (flock), gone with the process, and leaves no
/// file. Where the file system has no locks there is none, and nothing is said.
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
