#include "base/cpus.h"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string>

namespace assay {
namespace {

int affinity_cpus() {
  // A mask of fixed size is refused where the kernel knows more processors than it has bits.
  for (int cpus = 1024; cpus <= 1 << 20; cpus *= 4) {
    cpu_set_t* set = CPU_ALLOC(cpus);
    const size_t bytes = CPU_ALLOC_SIZE(cpus);
    const bool known = sched_getaffinity(0, bytes, set) == 0;
    const int count = known ? CPU_COUNT_S(bytes, set) : 0;
    CPU_FREE(set);
    if (known) return std::max(1, count);
  }
  return 1;
}

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// The folder of this process's group in a hierarchy: /proc/self/cgroup has lines id:controllers:path.
std::string group_path(std::string_view controller) {
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const bool found = controller.empty()
                           ? controllers == ",,"
                           : controllers.find("," + std::string(controller) + ",") != std::string::npos;
    if (found) return line.substr(second + 1);
  }
  return {};
}

void lower(int& limit, int cpus) {
  if (cpus > 0) limit = limit == 0 ? cpus : std::min(limit, cpus);
}

/// The tightest grant on the way from the process's group to the root; 0: none.
int granted_cpus() {
  int limit = 0;
  for (std::string path = group_path("");; path.resize(path.find_last_of('/'))) {
    lower(limit, cpus_of_quota(first_line("/sys/fs/cgroup" + path + "/cpu.max")));
    if (path.find('/') == std::string::npos) break;
  }
  for (std::string path = group_path("cpu");; path.resize(path.find_last_of('/'))) {
    const std::string folder = "/sys/fs/cgroup/cpu" + path;
    lower(limit, cpus_of_quota(first_line(folder + "/cpu.cfs_quota_us") + " " +
                               first_line(folder + "/cpu.cfs_period_us")));
    if (path.find('/') == std::string::npos) break;
  }
  return limit;
}

}  // namespace

int cpus_of_quota(std::string_view text) {
  int64_t quota = 0, period = 0;
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, quota);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != ' ') return 0;
  const auto second = std::from_chars(first.ptr + 1, end, period);
  if (second.ec != std::errc() || quota <= 0 || period <= 0) return 0;
  return static_cast<int>(std::min<int64_t>(1 << 20, (quota - 1) / period + 1));
}

int available_cpus() {
  int cpus = affinity_cpus();
  lower(cpus, granted_cpus());
  return cpus;
}

}  // namespace assay
