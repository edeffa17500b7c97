// Releases memory that the process does not need: pages of files that can be read again, and free memory of
// malloc.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

namespace assay {

/// For its lifetime the pages of a shared or read-only mapping of a file may be released at any moment: their
/// content is in the file, and the next access reads them again.
class ReclaimableRange {
 public:
  ReclaimableRange(const void* first, size_t bytes);
  ~ReclaimableRange();
  ReclaimableRange(const ReclaimableRange&) = delete;
  ReclaimableRange& operator=(const ReclaimableRange&) = delete;

 private:
  const void* first_;
};

/// True when an address is in a reclaimable range.
bool is_reclaimable(const void* address);

/// Releases the resident pages of a file mapping.
void drop_resident_pages(const void* first, size_t bytes);

/// For data that were read, copied or packed and are no longer needed in place: releases their pages if they
/// are in a reclaimable range and large enough.
void drop_after_use(const void* data, size_t bytes);

/// Reports data that are skipped, not read. With large pages in the
/// page cache, Linux maps megabytes around each byte that is read:
/// after every few large pieces, the pages of their range are released.
void passed_over(std::string_view data);

/// Releases freed memory that malloc still holds: after work with many temporary allocations.
void trim_heap();

/// Releases the pages of all reclaimable ranges, and freed memory that malloc still holds.
void release_resident_memory();

/// While foreign code processes large mappings: for its lifetime a background thread releases the pages of
/// all reclaimable ranges whenever they exceed a few megabytes, so that weights already read and results
/// already written do not accumulate in memory.
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
