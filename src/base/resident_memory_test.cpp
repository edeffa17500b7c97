#include "base/resident_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <thread>

#include "base/nameless_file.h"

namespace assay::resident_memory_test {
namespace {

/// A shared mapping of a temporary file.
class FileMapping {
 public:
  explicit FileMapping(size_t bytes) : bytes_(bytes) {
    EXPECT_EQ(::ftruncate(file_.fd(), static_cast<off_t>(bytes)), 0);
    data_ = static_cast<char*>(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_.fd(), 0));
    EXPECT_NE(static_cast<void*>(data_), MAP_FAILED);
  }
  ~FileMapping() { ::munmap(data_, bytes_); }
  char* data() const { return data_; }
  /// Pages of files that are resident in this process.
  size_t resident_pages() const {
    // mincore() would report the page cache, which keeps the pages.
    std::FILE* f = std::fopen("/proc/self/statm", "re");
    unsigned long size = 0, resident = 0, shared = 0;
    EXPECT_EQ(std::fscanf(f, "%lu %lu %lu", &size, &resident, &shared), 3);
    std::fclose(f);
    return shared;
  }

 private:
  NamelessFile file_;
  size_t bytes_;
  char* data_;
};

constexpr size_t kBytes = size_t{48} << 20;

TEST(ResidentMemory, KnowsWhatItMayGiveBack) {
  FileMapping map(kBytes);
  EXPECT_FALSE(is_reclaimable(map.data()));
  {
    const ReclaimableRange range(map.data(), kBytes);
    EXPECT_TRUE(is_reclaimable(map.data()));
    EXPECT_TRUE(is_reclaimable(map.data() + kBytes - 1));
    EXPECT_FALSE(is_reclaimable(map.data() + kBytes));
  }
  EXPECT_FALSE(is_reclaimable(map.data()));
}

TEST(ResidentMemory, PagesLeaveAndTheirContentStays) {
  FileMapping map(kBytes);
  const ReclaimableRange range(map.data(), kBytes);
  std::memset(map.data(), 7, kBytes);
  const size_t before = map.resident_pages();
  release_resident_memory();
  EXPECT_LT(map.resident_pages() + kBytes / page_size() / 2, before);
  EXPECT_EQ(map.data()[0], 7);
  EXPECT_EQ(map.data()[kBytes - 1], 7);
}

TEST(ResidentMemory, ALimitActsWhileForeignCodeWorks) {
  FileMapping map(kBytes);
  const ReclaimableRange range(map.data(), kBytes);
  const size_t before = map.resident_pages();
  const ResidentMemoryLimit limit;
  std::memset(map.data(), 9, kBytes);
  // Half of it may stay.
  const size_t most = before + kBytes / page_size() * 3 / 4;
  for (int i = 0; i < 2000 && map.resident_pages() > most; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  EXPECT_LE(map.resident_pages(), most);
  EXPECT_EQ(map.data()[kBytes / 2], 9);
}

}  // namespace
}  // namespace assay::resident_memory_test
