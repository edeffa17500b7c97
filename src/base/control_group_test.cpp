#include "base/control_group.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace assay::control_group_test {
namespace {

class ControlGroup : public testing::Test {
 protected:
  ControlGroup() : root_(testing::TempDir() + "control_group_" + std::to_string(::getpid())) {
    std::filesystem::remove_all(root_);
  }
  ~ControlGroup() override { std::filesystem::remove_all(root_); }
  void file(const std::string& path, const std::string& text) const {
    const std::filesystem::path at = root_ + path;
    std::filesystem::create_directories(at.parent_path());
    std::ofstream(at) << text;
  }
  int64_t limit() const { return control_group_limit(root_); }

 private:
  std::string root_;
};

TEST_F(ControlGroup, ThereMayBeNone) { EXPECT_EQ(limit(), INT64_MAX); }

TEST_F(ControlGroup, TheSmallestOfNestedGroupsCounts) {
  file("/proc/self/cgroup", "0::/user.slice/app.scope/inner\n");
  file("/sys/fs/cgroup/user.slice/memory.max", "max\n");
  file("/sys/fs/cgroup/user.slice/app.scope/memory.max", "268435456\n");
  file("/sys/fs/cgroup/user.slice/app.scope/inner/memory.max", "1073741824\n");
  EXPECT_EQ(limit(), 268435456);
  file("/sys/fs/cgroup/user.slice/memory.high", "100000000\n");
  EXPECT_EQ(limit(), 100000000);
}

TEST_F(ControlGroup, ItsOwnMayBeAllThatAContainerSees) {
  file("/proc/self/cgroup", "0::/\n");
  file("/sys/fs/cgroup/memory.max", "268435456\n");
  EXPECT_EQ(limit(), 268435456);
}

TEST_F(ControlGroup, OfTheFirstVersionToo) {
  file("/proc/self/cgroup", "7:cpu:/a\n5:memory,hugetlb:/docker/abc\n");
  file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(limit(), 9223372036854771712);
  file("/sys/fs/cgroup/memory/docker/memory.limit_in_bytes", "400000000\n");
  EXPECT_EQ(limit(), 400000000);
  file("/sys/fs/cgroup/memory/memory.stat", "cache 1\nhierarchical_memory_limit 300000000\n");
  EXPECT_EQ(limit(), 300000000) << "of a group that cannot be seen from here";
}

TEST_F(ControlGroup, WhereverItIsMounted) {
  file("/proc/self/cgroup", "0::/box/inner\n");
  file("/proc/self/mountinfo", "30 20 0:26 /box /mnt/groups rw,nosuid shared:4 - cgroup2 cgroup2 rw\n");
  file("/mnt/groups/inner/memory.max", "123456789\n");
  EXPECT_EQ(limit(), 123456789);
}

}  // namespace
}  // namespace assay::control_group_test
