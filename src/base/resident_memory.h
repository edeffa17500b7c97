// What the process holds in memory without need: pages of files that can be read again, and what malloc keeps
// for later.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

namespace assay {

/// While it lives, the pages of a shared or read-only mapping of a file may be given back to the system at
/// any moment: their content is in the file, and the next touch brings them back.
class ReclaimableRange {
 public:
  ReclaimableRange(const void* first, size_t bytes);
  ~ReclaimableRange();
  ReclaimableRange(const ReclaimableRange&) = delete;
  ReclaimableRange& operator=(const ReclaimableRange&) = delete;

 private:
  const void* first_;
};

/// Whether an address lies in a reclaimable range.
bool is_reclaimable(const void* address);

/// Gives the resident pages inside a mapping of a file back.
void drop_resident_pages(const void* first, size_t bytes);

/// For data that have been read through, copied or packed, and are not needed where they come from: gives
/// their pages back if they lie in a reclaimable range and are worth it.
void drop_after_use(const void* data, size_t bytes);

/// To be told of data that are read around, not through. Kernels that keep files in large pages map megabytes
/// of them at each byte that is read beside: after every few large pieces, the pages of the range that they
/// lie in are given back.
void passed_over(std::string_view data);

/// Gives back the memory that was freed but is still kept by malloc: after work that made and forgot much.
void trim_heap();

/// Gives back the pages of all reclaimable ranges, and the memory that was freed but is still kept by malloc.
void release_resident_memory();

/// For the time that foreign code works through large mappings: while it lives, a thread of its own gives
/// back the pages of all reclaimable ranges as soon as they are more than a few megabytes, so that weights
/// that have been read and results that have been written do not pile up in memory.
class ResidentMemoryLimit {
 public:
  ResidentMemoryLimit();
  ~ResidentMemoryLimit();
  ResidentMemoryLimit(const ResidentMemoryLimit&) = delete;
  ResidentMemoryLimit& operator=(const ResidentMemoryLimit&) = delete;

 private:
  struct Watcher;
  std::unique_ptr<Watcher> watcher_;
};

}  // namespace assay
