// Tensors count against one budget as long as they live.
#include <gtest/gtest.h>

#include "assay/tensor.h"
#include "base/memory_limit.h"
#include "tensor/room.h"

namespace assay::memory_test {
namespace {

constexpr int64_t kMegabyte = int64_t{1} << 20;

class TensorMemory : public testing::Test {
 protected:
  void limit(int64_t bytes) { set_memory_limit(before_ + bytes); }
  ~TensorMemory() override { set_memory_limit(0); }
  int64_t taken() const { return memory_in_use() - before_; }

 private:
  int64_t before_ = memory_in_use();
};

std::string refusal(DType dtype, const Shape& shape) {
  try {
    Tensor::allocate(dtype, shape);
  } catch (const Error& e) {
    return e.what();
  }
  return "it was allocated";
}

TEST_F(TensorMemory, IsCountedTogetherAndGivenBack) {
  limit(3 * kMegabyte);
  {
    const Tensor a = Tensor::zeros(DType::kUInt8, {kMegabyte}), copy = a,
                 b = Tensor::zeros(DType::kUInt8, {kMegabyte});
    EXPECT_NEAR(static_cast<double>(taken()), 2e6 * 1.048576, 1000);
    EXPECT_EQ(refusal(DType::kUInt8, {kMegabyte}),
              fmt::format("a uint8 tensor of shape (1048576,) takes 1048576 bytes, but {} of {} bytes are in "
                          "use. A higher memory limit allows more.",
                          memory_in_use(), memory_limit()));
  }
  EXPECT_EQ(taken(), 0);
  EXPECT_EQ(refusal(DType::kUInt8, {2 * kMegabyte}), "it was allocated");
  EXPECT_EQ(taken(), 0);
}

TEST_F(TensorMemory, StringsAndListsCountToo) {
  const Tensor strings = Tensor::allocate(DType::kString, {1000});
  EXPECT_GE(taken(), 1000 * static_cast<int64_t>(sizeof(std::string)));
  const int64_t so_far = taken();
  const Tensor list = Tensor::sequence(std::vector<Tensor>(1000, Tensor::scalar(1.0F)));
  EXPECT_GE(taken() - so_far, 1000 * static_cast<int64_t>(sizeof(Tensor)));
}

TEST_F(TensorMemory, ManySmallTensorsCountForWhatTheyCost) {
  std::vector<Tensor> many;
  for (int i = 0; i < 1000; ++i) many.push_back(Tensor::scalar(1.0F));
  EXPECT_GE(taken(), 1000 * 64);
  many.clear();
  EXPECT_EQ(taken(), 0);
}

TEST_F(TensorMemory, ViewsAndWhatWasRefusedTakeNothing) {
  limit(kMegabyte);
  const float x = 1;
  const Tensor view = Tensor::view(DType::kFloat32, {1}, &x, nullptr);
  EXPECT_EQ(taken(), 0);
  EXPECT_NE(refusal(DType::kFloat64, {int64_t{1} << 60}).find("bytes that there are"), std::string::npos);
  EXPECT_NE(refusal(DType::kString, {int64_t{1} << 40}).find("bytes that there are"), std::string::npos);
  EXPECT_EQ(taken(), 0);
}

// A shape with an extent of 10^12 next to one of 0 is refused.
TEST_F(TensorMemory, ExtentsBesideAZeroCount) {
  EXPECT_EQ(room_of(DType::kFloat32, {0, 3, 0, 5}), 60);
  EXPECT_EQ(room_of(DType::kInt4, {3}), 2);
  EXPECT_EQ(room_of(DType::kUInt8, {0, int64_t{1} << 40, int64_t{1} << 40}), INT64_MAX);
  EXPECT_EQ(room_of(DType::kFloat64, {INT64_MAX}), INT64_MAX);
  EXPECT_THROW(room_of(DType::kFloat32, {0, -1}), Error);
  EXPECT_NE(refusal(DType::kFloat32, {0, int64_t{1} << 50}).find("bytes that there are"), std::string::npos);
  EXPECT_EQ(refusal(DType::kFloat32, {0, 1000}), "it was allocated");
}

}  // namespace
}  // namespace assay::memory_test
