#include "base/control_group.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

namespace assay {
namespace {

using Path = std::filesystem::path;

/// The number in a file; INT64_MAX where there is none.
int64_t limit_in(const Path& path) {
  long long value = 0;  // the word `max` leaves it 0
  std::ifstream file(path);
  return file >> value && value > 0 ? value : INT64_MAX;
}

/// The limit of all enclosing groups by memory.stat of version 1; a container may not see those groups.
int64_t hierarchical_limit(const Path& path) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("hierarchical_memory_limit ")) {
      std::istringstream rest(line.substr(line.find(' ')));
      long long value = 0;
      if (rest >> value && value > 0) return value;
    }
  return INT64_MAX;
}

/// A mount point of a hierarchy.
struct Mount {
  bool is_unified;  ///< version 2
  Path at;
  std::string group;  ///< at the mount point: in a container, its own
};

std::vector<Mount> mounts(const std::string& root) {
  std::vector<Mount> list = {{true, root + "/sys/fs/cgroup", "/"},
                             {true, root + "/sys/fs/cgroup/unified", "/"},
                             {false, root + "/sys/fs/cgroup/memory", "/"}};
  // `36 35 98:0 /group /mnt/point rw shared:1 - cgroup cgroup rw,memory`
  std::ifstream file(root + "/proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t bar = line.find(" - ");
    if (bar == std::string::npos) continue;
    std::istringstream before(line.substr(0, bar)), behind(line.substr(bar + 3));
    std::string id, parent, device, group, at, type, source, options;
    before >> id >> parent >> device >> group >> at;
    behind >> type >> source >> options;
    const bool has_memory = ("," + options + ",").find(",memory,") != std::string::npos;
    if (type == "cgroup2" || (type == "cgroup" && has_memory))
      list.push_back({type == "cgroup2", root + at, group});
  }
  return list;
}

/// The limits from a group up to the visible root of the hierarchy. If /proc names a group outside of the
/// mount, as seen from outside a container, the mounted group applies.
int64_t climb(const Mount& mount, const std::string& group) {
  std::string below = group;
  if (mount.group != "/" && group.starts_with(mount.group)) below = group.substr(mount.group.size());
  int64_t bytes = INT64_MAX;
  for (Path at = Path(below).relative_path();; at = at.parent_path()) {
    const Path folder = mount.at / at;
    if (mount.is_unified)
      bytes = std::min({bytes, limit_in(folder / "memory.max"), limit_in(folder / "memory.high")});
    else
      bytes = std::min(
          {bytes, limit_in(folder / "memory.limit_in_bytes"), hierarchical_limit(folder / "memory.stat")});
    if (at.empty()) return bytes;
  }
}

}  // namespace

int64_t control_group_limit(const std::string& root) {
  const std::vector<Mount> seen = mounts(root);
  int64_t bytes = INT64_MAX;
  for (const Mount& m : seen) bytes = std::min(bytes, climb(m, "/"));
  // Lines such as `0::/user.slice/a.scope` and `5:memory:/a`.
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1),
                      group = line.substr(second + 1);
    const bool has_memory = ("," + controllers + ",").find(",memory,") != std::string::npos;
    for (const Mount& m : seen)
      if (m.is_unified ? controllers.empty() : has_memory) bytes = std::min(bytes, climb(m, group));
  }
  return bytes;
}

}  // namespace assay
