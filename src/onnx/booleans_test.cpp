#include <gtest/gtest.h>

#include "onnx/tensor_data.h"
#include "onnx/writer.h"

namespace assay::onnx::booleans_test {
namespace {

// A bool that is neither 0 nor 1 is undefined behaviour to read, and text has no word for it (found by
// fuzzing).
TEST(Booleans, EveryByteButZeroIsTrue) {
  MessageWriter m;
  m.integer(1, 4);
  m.integer(2, static_cast<int64_t>(DType::kBool));
  m.text(9, std::string_view("\x05\x00\x01\xff", 4));
  const std::string bytes = m.bytes();
  ExternalData external("");
  const Tensor t = decode_tensor(read_tensor(bytes), nullptr, external).aligned();
  EXPECT_TRUE(t.identical(Tensor::vector<bool>({true, false, true, true})));
  const auto* raw = static_cast<const uint8_t*>(t.data());
  EXPECT_EQ(std::vector<int>(raw, raw + 4), (std::vector<int>{1, 0, 1, 1}));
}

}  // namespace
}  // namespace assay::onnx::booleans_test
