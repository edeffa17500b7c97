#include "base/memory_limit.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(MemoryLimit, IsTheMachinesUnlessATestSetsIt) {
  const int64_t machine = memory_limit();
  EXPECT_GT(machine, int64_t{1} << 28);
  EXPECT_LT(machine, int64_t{1} << 50);
  set_memory_limit(1000);
  EXPECT_EQ(memory_limit(), 1000);
  set_memory_limit(0);
  EXPECT_EQ(memory_limit(), machine);
}

}  // namespace
}  // namespace assay
