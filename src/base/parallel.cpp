#include "base/parallel.h"

#include <algorithm>

namespace assay {

int thread_count() {
  const ThreadPool* pool = PoolScope::current().get();
  return pool != nullptr ? pool->size() : 1;
}

std::shared_ptr<ThreadPool> pool_of(int threads) {
  const std::shared_ptr<ThreadPool>& current = PoolScope::current();
  if (current != nullptr && (threads <= 0 || current->size() == threads)) return current;
  return std::make_shared<ThreadPool>(threads);
}

void internal::run_parallel(int64_t count, int64_t grain, RangeBody body) {
  if (count <= 0) return;
  ThreadPool* const pool = PoolScope::current().get();
  grain = std::max<int64_t>(grain, 1);
  const int64_t parts = pool == nullptr || ThreadPool::inside_loop()
                            ? 1
                            : std::min<int64_t>(pool->size(), (count - 1) / grain + 1);
  if (parts <= 1) return body(0, count);
  // Parts of nearly equal size, without a product that could overflow.
  const int64_t size = count / parts, longer = count % parts;
  const auto part = [&](int64_t i) {
    const int64_t first = i * size + std::min(i, longer);
    body(first, first + size + (i < longer ? 1 : 0));
  };
  pool->run(parts, part);
}

}  // namespace assay
