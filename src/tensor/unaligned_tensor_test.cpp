#include "assay/unaligned_tensor.h"

#include <gtest/gtest.h>

#include <cstring>
#include <type_traits>

#include "tensor/convert.h"

namespace assay::unaligned_tensor_test {
namespace {

/// Three doubles that begin `offset` bytes behind an address of a multiple of 64.
class Odd {
 public:
  explicit Odd(size_t offset) : at_(bytes_->data + offset) {
    const double values[] = {1.5, -2, 1e300};
    std::memcpy(at_, values, sizeof values);
  }
  UnalignedTensor view(DType dtype = DType::kFloat64, Shape shape = {3}) const {
    return UnalignedTensor::view(dtype, std::move(shape), at_, bytes_);
  }

 private:
  struct Bytes {
    alignas(64) char data[64] = {};
  };
  std::shared_ptr<Bytes> bytes_ = std::make_shared<Bytes>();
  char* at_;
};

/// Typed access refuses misaligned elements.
template <typename T>
concept HasTypedElements = requires(const T& t) {
  t.template data<float>();
};
static_assert(HasTypedElements<Tensor> && !HasTypedElements<UnalignedTensor>);
static_assert(!std::is_convertible_v<UnalignedTensor, Tensor>);

TEST(UnalignedTensor, GivesATensorAtEveryAddress) {
  for (size_t offset = 0; offset < 16; ++offset) {
    const UnalignedTensor t = Odd(offset).view();
    EXPECT_EQ(t.if_aligned() != nullptr, offset % 8 == 0);
    const Tensor aligned = t.aligned();
    EXPECT_EQ(aligned.data() == t.data(), offset % 8 == 0) << "aligned data are not copied";
    EXPECT_EQ(aligned.data<double>()[1], -2);
    EXPECT_EQ(aligned.shape(), Shape{3});
    EXPECT_EQ(to_float64(t).data<double>()[2], 1e300);
    EXPECT_TRUE(t.identical(aligned) && UnalignedTensor(aligned).identical(t));
    EXPECT_EQ(t.reshaped({1, 3}).aligned().shape(), (Shape{1, 3}));
    EXPECT_EQ(t.nbytes(), 24U);
  }
}

TEST(UnalignedTensor, TheTypeSaysWhatIsAligned) {
  EXPECT_EQ(Odd(2).view(DType::kFloat32).if_aligned(), nullptr);
  EXPECT_NE(Odd(4).view(DType::kFloat32).if_aligned(), nullptr);
  EXPECT_EQ(Odd(1).view(DType::kBFloat16).if_aligned(), nullptr);
  EXPECT_NE(Odd(2).view(DType::kFloat16).if_aligned(), nullptr);
  EXPECT_NE(Odd(1).view(DType::kInt8).if_aligned(), nullptr);
  EXPECT_NE(Odd(3).view(DType::kInt4).if_aligned(), nullptr);
  EXPECT_EQ(Odd(3).view(DType::kBool).to_int64().size(), 3U);
  EXPECT_FALSE(Odd(1).view().identical(Odd(1).view(DType::kInt64)));
}

TEST(UnalignedTensor, OneOfItsKindMayBeEmptyAStringOrNothing) {
  EXPECT_FALSE(UnalignedTensor().defined());
  EXPECT_FALSE(UnalignedTensor().aligned().defined());
  EXPECT_EQ(Odd(1).view(DType::kFloat32, {0}).aligned().numel(), 0);
  const Tensor words = Tensor::vector<std::string>({"a", "b"});
  EXPECT_EQ(UnalignedTensor(words).aligned().data<std::string>()[1], "b");
}

TEST(Tensor, RefusesAViewThatIsMisaligned) {
  alignas(64) const char bytes[64] = {};
  EXPECT_THROW(Tensor::view(DType::kFloat32, {2}, bytes + 2, nullptr), Error);
  EXPECT_EQ(Tensor::view(DType::kFloat32, {2}, bytes + 4, nullptr).data<float>()[1], 0);
}

}  // namespace
}  // namespace assay::unaligned_tensor_test
