#include "engine/runtime/arena.h"

#include <sys/mman.h>

#include "assay/error.h"

namespace assay::engine {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;

}  // namespace

Arena::Arena(size_t bytes) : MemoryBlock(bytes) {
  if (bytes == 0) return;
  if (bytes >= 2 * kHugePage) size_ = (bytes + kHugePage - 1) / kHugePage * kHugePage;
  share_ = MemoryShare(static_cast<int64_t>(size_), "the engine's arena");
  void* p = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  require(p != MAP_FAILED, ErrorCode::kInvalidArgument, "the system refuses {} bytes for the engine's arena",
          bytes);
  data_ = static_cast<char*>(p);
  // Advice only: without huge pages everything still works.
  if (size_ >= 2 * kHugePage) madvise(data_, size_, MADV_HUGEPAGE);
}

Arena::~Arena() {
  if (data_ != nullptr) munmap(data_, size_);
}

}  // namespace assay::engine
