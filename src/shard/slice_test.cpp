#include "shard/slice.h"

#include <gtest/gtest.h>

#include <numeric>

#include "assay/error.h"
#include "tensor/half.h"

namespace assay::slice_test {
namespace {

/// 0, 1, 2, ... of a shape.
Tensor numbers(const Shape& shape) {
  Tensor t = Tensor::allocate(DType::kInt32, shape);
  std::iota(t.mutable_span<int32_t>().begin(), t.mutable_span<int32_t>().end(), 0);
  return t;
}

TEST(Slice, AlongEveryAxis) {
  const Tensor t = numbers({2, 3, 4});
  for (size_t axis = 0; axis < 3; ++axis)
    for (int64_t begin = 0; begin < t.dim(axis); ++begin) {
      const Tensor part = slice_along(t, axis, begin, t.dim(axis)).aligned();
      size_t at = 0;
      for (int64_t i = 0; i < t.numel(); ++i) {
        const int64_t index[] = {i / 12, i / 4 % 3, i % 4};
        if (index[axis] >= begin) {
          EXPECT_EQ(part.span<int32_t>()[at++], i) << axis << " " << begin;
        }
      }
      EXPECT_EQ(at, part.span<int32_t>().size());
    }
}

TEST(Slice, AContiguousPartIsAView) {
  const Tensor t = numbers({4, 2});
  EXPECT_EQ(slice_along(t, 0, 1, 3).data(), t.span<int32_t>().data() + 2);
}

TEST(Slice, PackedElementsAtEvenAndOddPlaces) {
  Tensor bytes = Tensor::allocate(DType::kUInt8, {3, 5});
  for (int i = 0; i < 15; ++i)
    bytes.mutable_span<uint8_t>()[static_cast<size_t>(i)] = static_cast<uint8_t>(i);
  for (const int64_t begin : {0, 1, 2}) {
    const Tensor whole = slice_along(pack(bytes, DType::kUInt4), 1, begin, 4).aligned();
    const Tensor expected = slice_along(bytes, 1, begin, 4).aligned();
    EXPECT_EQ(whole.dtype(), DType::kUInt4);
    EXPECT_TRUE(unpack(whole).identical(expected)) << begin;
  }
}

TEST(Slice, StringsAreRefused) {
  EXPECT_THROW(slice_along(Tensor::vector(std::vector<std::string>{"a", "b"}), 0, 0, 1), Error);
}

}  // namespace
}  // namespace assay::slice_test
