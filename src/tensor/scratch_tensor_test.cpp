#include "tensor/scratch_tensor.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "assay/error.h"
#include "base/resident_memory.h"

namespace assay::scratch_tensor_test {
namespace {

/// Counts up, written in pieces of 1000 elements.
Tensor counted(int64_t count, size_t on_disk) {
  ScratchTensor t(DType::kInt32, Shape({count}), on_disk);
  for (int64_t first = 0; first < count; first += 1000) {
    const int64_t last = std::min(count, first + 1000);
    for (int64_t i = first; i < last; ++i) {
      const auto value = static_cast<int32_t>(i);
      std::memcpy(t.data() + i * 4, &value, 4);
    }
    t.written_up_to(static_cast<size_t>(last) * 4);
  }
  return t.finish();
}

TEST(ScratchTensor, HoldsWhatWasWrittenInMemoryAndOnDisk) {
  const Tensor in_memory = counted(100'001, 1 << 30), on_disk = counted(100'001, 0);
  EXPECT_FALSE(is_reclaimable(in_memory.data()));
  EXPECT_TRUE(is_reclaimable(on_disk.data()));
  EXPECT_TRUE(on_disk.identical(in_memory));
  EXPECT_EQ(on_disk.data<int32_t>()[100'000], 100'000);
}

TEST(ScratchTensor, EmptyOne) {
  const Tensor t = ScratchTensor(DType::kFloat32, Shape({0, 3}), 0).finish();
  EXPECT_EQ(t.shape(), Shape({0, 3}));
  EXPECT_EQ(t.numel(), 0);
}

TEST(ScratchTensor, WhatTheDiskCannotHold) {
  try {
    ScratchTensor(DType::kFloat32, Shape({int64_t{1} << 55}));
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kIo) << e.what();
    EXPECT_NE(std::string(e.what()).find("TMPDIR"), std::string::npos) << e.what();
  }
}

TEST(ScratchTensor, AbsurdShape) {
  EXPECT_THROW(ScratchTensor(DType::kFloat32, Shape({int64_t{1} << 40, int64_t{1} << 40})), Error);
}

}  // namespace
}  // namespace assay::scratch_tensor_test
