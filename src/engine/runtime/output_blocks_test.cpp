#include "engine/runtime/output_blocks.h"

#include <gtest/gtest.h>

#include <set>

namespace assay::engine::output_blocks_test {
namespace {

constexpr size_t kStart = 100'000, kStep = 768;

TEST(OutputBlocks, ReleasedBlocksAreReused) {
  OutputBlocks blocks;
  const void* first = blocks.take(0, kStart)->data();
  EXPECT_EQ(blocks.take(0, kStart)->data(), first);
  const auto kept = blocks.take(0, kStart);
  EXPECT_NE(blocks.take(0, kStart)->data(), kept->data());
}

/// As in a loop whose outputs are the next run's inputs, so that the last two of each are alive.
TEST(OutputBlocks, OutputsThatGrowStayInPlace) {
  OutputBlocks blocks;
  std::vector<std::shared_ptr<Arena>> last(2);
  std::set<const void*> seen;
  constexpr size_t kRuns = 32;
  for (size_t run = 0; run < kRuns; ++run) {
    std::vector<std::shared_ptr<Arena>> made;
    for (size_t output = 0; output < last.size(); ++output) {
      made.push_back(blocks.take(output, kStart + run * kStep));
      ASSERT_NE(made.back(), nullptr);
      ASSERT_GE(made.back()->size(), kStart + run * kStep);
      seen.insert(made.back()->data());
    }
    last = std::move(made);
  }
  // Those of the first run, and two for each output from then on.
  EXPECT_LE(seen.size(), 3 * last.size());
}

TEST(OutputBlocks, OutputsThatDoNotGrowGetNoMore) {
  OutputBlocks blocks;
  const auto large = blocks.take(0, 4 * kStart), small = blocks.take(1, kStart);
  EXPECT_EQ(large->size(), 4 * kStart);
  EXPECT_EQ(small->size(), kStart);
  // Another network's step, not one position more.
  EXPECT_EQ(blocks.take(1, 3 * kStart)->size(), 3 * kStart);
}

/// The room of an output that grows is a wish, its own bytes are not.
TEST(OutputBlocks, NoRoomIsNoError) {
  OutputBlocks blocks;
  const auto first = blocks.take(0, kStart);
  const int64_t before = memory_limit();
  set_memory_limit(memory_in_use() + static_cast<int64_t>(kStart + kStep) * 11 / 10);
  const auto second = blocks.take(0, kStart + kStep);
  set_memory_limit(before);
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(second->size(), kStart + kStep);
}

}  // namespace
}  // namespace assay::engine::output_blocks_test
