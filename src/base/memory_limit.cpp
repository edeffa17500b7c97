#include "base/memory_limit.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>

namespace assay {
namespace {

/// The limit of the process's control group, if it is in one of its own; INT64_MAX where there is none.
int64_t control_group_limit() {
  int64_t bytes = INT64_MAX;
  for (const char* path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::FILE* file = std::fopen(path, "r");
    if (file == nullptr) continue;
    long long value = 0;  // the word `max` leaves it 0
    if (std::fscanf(file, "%lld", &value) == 1 && value > 0) bytes = std::min<int64_t>(bytes, value);
    std::fclose(file);
  }
  return bytes;
}

int64_t machine_limit() {
  int64_t bytes = INT64_MAX;
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  if (pages > 0 && page > 0) bytes = static_cast<int64_t>(pages) * page;
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    bytes = std::min(bytes, static_cast<int64_t>(limit.rlim_cur));
  return std::min(bytes, control_group_limit());
}

std::atomic<int64_t> chosen{0};

}  // namespace

int64_t memory_limit() {
  if (const int64_t bytes = chosen.load(std::memory_order_relaxed); bytes > 0) return bytes;
  static const int64_t machine = machine_limit();
  return machine;
}

void set_memory_limit(int64_t bytes) { chosen.store(bytes, std::memory_order_relaxed); }

}  // namespace assay
