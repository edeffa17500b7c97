#include "tensor/block_reuse.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "assay/tensor.h"
#include "base/memory_limit.h"

namespace assay::block_reuse_test {
namespace {

const void* place_of_one(int64_t count) { return Tensor::allocate(DType::kFloat64, {count}).data<double>(); }

TEST(BlockReuse, GivesTheSameBlockAgain) {
  const BlockReuse reuse;
  const int64_t in_use = memory_in_use();
  const void* first = place_of_one(1 << 20);
  EXPECT_EQ(memory_in_use(), in_use);
  const Tensor other = Tensor::allocate(DType::kFloat64, {1 << 19});
  EXPECT_NE(other.data<double>(), first);
  EXPECT_EQ(place_of_one(1 << 20), first);
  // Two that are alive are apart.
  const Tensor a = Tensor::allocate(DType::kFloat64, {1 << 20}),
               b = Tensor::allocate(DType::kFloat64, {1 << 20});
  EXPECT_NE(a.data<double>(), b.data<double>());
}

TEST(BlockReuse, KeepsNoMoreThanItMay) {
  const BlockReuse reuse(1 << 20);
  void* older = std::malloc(1 << 20);
  void* newer = std::malloc((1 << 20) - 64);
  internal::return_block({older, 1 << 20});
  internal::return_block({newer, (1 << 20) - 64});  // in its place
  const internal::Block one = internal::take_block(1 << 19);
  EXPECT_EQ(one.data, nullptr) << "much larger than what is asked for";
  const internal::Block other = internal::take_block(1000000);
  EXPECT_EQ(other.data, newer);
  EXPECT_EQ(other.bytes, (1 << 20) - 64);
  EXPECT_EQ(internal::take_block(1000000).data, nullptr);
  std::free(other.data);
}

TEST(BlockReuse, KeepsNothingWithoutOne) {
  {
    const BlockReuse reuse;
    place_of_one(1 << 20);
  }
  EXPECT_EQ(internal::take_block(size_t{8} << 20).data, nullptr);
}

}  // namespace
}  // namespace assay::block_reuse_test
