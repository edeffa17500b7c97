#include "run/conformance.h"

#include <gtest/gtest.h>

#include "tensor/convert.h"

namespace assay::conformance_test {
namespace {

TEST(ConformanceDifference, IgnoresWhatFillsTheLastByteOfPackedIntegers) {
  const Tensor a = convert(Tensor::vector(std::vector<int64_t>{1, -2, 3}), DType::kInt4);
  Tensor b = convert(Tensor::vector(std::vector<int64_t>{1, -2, 3}), DType::kInt4);
  static_cast<uint8_t*>(b.mutable_data())[1] |= 0xF0;
  EXPECT_EQ(conformance_difference(a, b, {}), "");
  static_cast<uint8_t*>(b.mutable_data())[1] ^= 0x01;
  EXPECT_EQ(conformance_difference(a, b, {}), "values differ");
}

}  // namespace
}  // namespace assay::conformance_test
