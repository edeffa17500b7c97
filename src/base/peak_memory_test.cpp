#include "base/peak_memory.h"

#include <gtest/gtest.h>

#include <vector>

namespace assay::peak_memory_test {
namespace {

TEST(PeakMemory, GrowsWithWhatIsTouched) {
  const int64_t before = peak_memory();
  EXPECT_GT(before, 0);
  const std::vector<char> block(size_t{256} << 20, 1);
  EXPECT_GT(peak_memory(), int64_t{200} << 20);
  EXPECT_EQ(block.back(), 1);
}

}  // namespace
}  // namespace assay::peak_memory_test
