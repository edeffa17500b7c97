#include "tensor/block_reuse.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "assay/tensor.h"
#include "base/memory_limit.h"

namespace assay::block_reuse_test {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;

Tensor of_bytes(int64_t bytes) { return Tensor::allocate(DType::kUInt8, {bytes}); }
const uint8_t* place_of_one(int64_t bytes) { return of_bytes(bytes).data<uint8_t>(); }

TEST(BlockReuse, GivesTheSameMemoryAgain) {
  const BlockReuse reuse;
  const int64_t in_use = memory_in_use();
  const uint8_t* first = place_of_one(8 * kMiB);
  EXPECT_EQ(memory_in_use(), in_use);
  EXPECT_EQ(internal::kept_bytes(), 8 * kMiB);
  EXPECT_EQ(place_of_one(8 * kMiB), first);
  // Smaller ones share it, and it is whole again after them.
  {
    const Tensor a = of_bytes(5 * kMiB), b = of_bytes(3 * kMiB);
    EXPECT_EQ(std::min(a.data<uint8_t>(), b.data<uint8_t>()), first);
    EXPECT_EQ(internal::kept_bytes(), 0);
  }
  EXPECT_EQ(place_of_one(8 * kMiB), first);
}

TEST(BlockReuse, KeepsNoMoreThanItMay) {
  const BlockReuse reuse(4 * kMiB);
  { const Tensor a = of_bytes(3 * kMiB), b = of_bytes(3 * kMiB); }
  EXPECT_EQ(internal::kept_bytes(), 3 * kMiB);
}

TEST(BlockReuse, KeepsNothingAtTheEnd) {
  Tensor survivor;
  {
    const BlockReuse reuse;
    place_of_one(8 * kMiB);
    survivor = of_bytes(kMiB);
    survivor.mutable_data<uint8_t>()[kMiB - 1] = 7;
  }
  EXPECT_EQ(internal::kept_bytes(), 0);
  EXPECT_EQ(internal::take_block(8 * kMiB), nullptr);
  EXPECT_EQ(survivor.data<uint8_t>()[kMiB - 1], 7);
}

TEST(BlockReuse, BlocksThatAreAliveAreApart) {
  const BlockReuse reuse(16 * kMiB);
  struct Held {
    Tensor tensor;
    uint8_t mark;
  };
  std::vector<Held> held;
  std::mt19937 random(1);
  const auto holds = [](const Held& h) {
    const auto bytes = h.tensor.span<uint8_t>();
    return std::all_of(bytes.begin(), bytes.end(), [&](uint8_t b) { return b == h.mark; });
  };
  for (int round = 0; round < 400; ++round) {
    if (held.size() > 12) {
      const auto gone = held.begin() + static_cast<std::ptrdiff_t>(random() % held.size());
      ASSERT_TRUE(holds(*gone)) << round;
      held.erase(gone);
    }
    Held next{of_bytes(1 + static_cast<int64_t>(random() % (3 * kMiB))), static_cast<uint8_t>(round)};
    std::fill_n(next.tensor.mutable_data<uint8_t>(), next.tensor.numel(), next.mark);
    held.push_back(std::move(next));
    ASSERT_LE(internal::kept_bytes(), 16 * kMiB);
  }
  EXPECT_TRUE(std::all_of(held.begin(), held.end(), holds));
}

}  // namespace
}  // namespace assay::block_reuse_test
