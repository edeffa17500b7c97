#include "kernels/copy/gather.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/parallel.h"

namespace assay::kernels {
namespace {

template <typename Index>
bool gather_rows(const void* in, const Index* index, void* out, int64_t outer, int64_t extent, int64_t count,
                 size_t row_bytes) {
  std::atomic<bool> in_range = true;
  const int64_t grain = std::max<int64_t>(1, 65536 / std::max<int64_t>(static_cast<int64_t>(row_bytes), 1));
  parallel_for(outer * count, grain, [&](int64_t first, int64_t last) {
    for (int64_t at = first; at < last; ++at) {
      const int64_t o = at / count;
      int64_t i = index[at % count];
      if (i < 0) i += extent;
      if (i < 0 || i >= extent) {
        in_range.store(false, std::memory_order_relaxed);
        return;
      }
      std::memcpy(static_cast<char*>(out) + static_cast<size_t>(at) * row_bytes,
                  static_cast<const char*>(in) + static_cast<size_t>(o * extent + i) * row_bytes, row_bytes);
    }
  });
  return in_range.load();
}

}  // namespace

bool gather(const void* in, const int64_t* index, void* out, int64_t outer, int64_t extent, int64_t count,
            size_t row_bytes) noexcept {
  return gather_rows(in, index, out, outer, extent, count, row_bytes);
}

bool gather(const void* in, const int32_t* index, void* out, int64_t outer, int64_t extent, int64_t count,
            size_t row_bytes) noexcept {
  return gather_rows(in, index, out, outer, extent, count, row_bytes);
}

}  // namespace assay::kernels
