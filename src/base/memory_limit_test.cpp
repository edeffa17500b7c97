#include "base/memory_limit.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "assay/error.h"
#include "base/resident_limit.h"

namespace assay::memory_limit_test {
namespace {

class MemoryLimit : public testing::Test {
 protected:
  ~MemoryLimit() override {
    set_memory_limit(0);
    set_resident_limit(0);
  }
};

TEST_F(MemoryLimit, IsAtMostHalfOfTheMachinesUnlessItIsSet) {
  const int64_t machine = memory_limit();
  EXPECT_GT(machine, int64_t{1} << 27);
  EXPECT_LE(machine, static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE) / 2);
  set_memory_limit(1000);
  EXPECT_EQ(memory_limit(), 1000);
  set_memory_limit(0);
  EXPECT_EQ(memory_limit(), machine);
}

TEST_F(MemoryLimit, SmallBlocksCountForTheSystemsLimit) {
  const int64_t before = resident_bytes();
  set_resident_limit(before + (int64_t{32} << 20));
  std::vector<std::unique_ptr<std::string>> list;
  list.reserve(1 << 20);
  EXPECT_THROW(while (true) list.push_back(std::make_unique<std::string>(100, 'x')), std::bad_alloc);
  EXPECT_GT(list.size(), size_t{1} << 16);
  EXPECT_LT(list.size(), size_t{1} << 18);
  EXPECT_NO_THROW(std::string(size_t{1} << 20, 'x')) << "who is refused has to say so";
  MemoryShare share;
  EXPECT_FALSE(share.take(int64_t{16} << 20)) << "tensors count together with the heap";
  list.clear();
  list.shrink_to_fit();
  EXPECT_TRUE(share.take(int64_t{16} << 20));
  set_resident_limit(0);
  EXPECT_NEAR(static_cast<double>(resident_bytes()), static_cast<double>(before + (int64_t{16} << 20)), 1e6);
  EXPECT_LE(resident_limit(), static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE));
}

TEST_F(MemoryLimit, TheHeapCountsBeyondItsFreePart) {
  // A compiler may remove unused allocations.
  const auto block = [](size_t bytes) {
    char* volatile memory = new char[bytes];
    return std::unique_ptr<char[]>(memory);
  };
  const int64_t before = memory_in_use();
  set_memory_limit(before + (int64_t{64} << 20));
  {
    const auto free_part = block(size_t{kFreeHeap});
    EXPECT_GE(memory_in_use(), before);
    EXPECT_LT(memory_in_use(), before + (int64_t{64} << 20));
    const int64_t filled = memory_in_use();
    const auto more = block(size_t{32} << 20);
    EXPECT_GE(memory_in_use(), filled + (int64_t{32} << 20));
    EXPECT_THROW(block(size_t{64} << 20), std::bad_alloc);
    MemoryShare share;
    EXPECT_FALSE(share.take(int64_t{64} << 20));
    EXPECT_NO_THROW(block(100));
    // Strings that are alive together.
    std::vector<std::string> list;
    EXPECT_THROW(while (true) list.emplace_back(size_t{1} << 20, 'x'), std::bad_alloc);
    EXPECT_LT(list.size(), 64U);
    forgive_heap();
    EXPECT_NO_THROW(block(size_t{1} << 20));
  }
  EXPECT_EQ(memory_in_use(), before);
}

TEST_F(MemoryLimit, CountsWhatIsAliveTogether) {
  const int64_t before = memory_in_use();
  set_memory_limit(before + 1000);
  {
    MemoryShare a(600, "a list"), b;
    EXPECT_EQ(memory_left(), 400);
    EXPECT_FALSE(b.take(401));
    EXPECT_EQ(memory_left(), 400);
    EXPECT_TRUE(b.take(400));
    EXPECT_EQ(memory_left(), 0);
    MemoryShare moved(std::move(a));
    EXPECT_EQ(memory_in_use(), before + 1000);
  }
  EXPECT_EQ(memory_in_use(), before);
}

TEST_F(MemoryLimit, NoSumOfSharesOverflows) {
  const int64_t before = memory_in_use();
  MemoryShare share;
  EXPECT_FALSE(share.take(INT64_MAX));
  EXPECT_FALSE(share.take(INT64_MAX - 1));
  EXPECT_EQ(memory_in_use(), before);
}

TEST_F(MemoryLimit, ARefusalSaysHowMuchAndWhatToDo) {
  set_memory_limit(memory_in_use() + 1000);
  try {
    MemoryShare share(2000, "a list of values");
    FAIL() << "it was granted";
  } catch (const Error& e) {
    EXPECT_EQ(e.what(), fmt::format("a list of values takes 2000 bytes, but {} of {} bytes are in use. "
                                    "A higher memory limit allows more.",
                                    memory_in_use(), memory_limit()));
  }
}

TEST_F(MemoryLimit, ACeilingHoldsAsLongAsItLives) {
  set_memory_limit(memory_in_use() + 1000);
  const int64_t limit = memory_limit();
  {
    const MemoryCeiling ceiling(300);
    EXPECT_EQ(memory_left(), 300);
    const MemoryCeiling no_higher(5000);
    EXPECT_EQ(memory_left(), 300);
  }
  EXPECT_EQ(memory_limit(), limit);
}

}  // namespace
}  // namespace assay::memory_limit_test
