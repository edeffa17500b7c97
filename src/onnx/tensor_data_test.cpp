#include "onnx/tensor_data.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "assay/error.h"
#include "onnx/writer.h"

namespace assay::onnx::tensor_data_test {
namespace {

std::string error_of(const MessageWriter& message) {
  const std::string bytes = message.bytes();
  ExternalData external(testing::TempDir());
  try {
    decode_tensor(read_tensor(bytes), nullptr, external);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

MessageWriter tensor(std::initializer_list<int64_t> dims, DType dtype) {
  MessageWriter w;
  for (const int64_t d : dims) w.integer(1, d);
  w.integer(2, static_cast<int64_t>(dtype));
  return w;
}

TEST(TensorData, AClaimedSizeIsBoundedByTheMessage) {
  for (const DType dtype :
       {DType::kFloat32, DType::kInt64, DType::kUInt2, DType::kString, DType::kComplex128}) {
    MessageWriter m = tensor({int64_t{1} << 40}, dtype);
    EXPECT_EQ(error_of(m), "it holds far fewer elements than its shape (1099511627776,) needs");
    MessageWriter absurd = tensor({int64_t{1} << 62}, dtype);
    EXPECT_EQ(error_of(absurd), "its shape (4611686018427387904,) is absurd");
  }
  // A string takes two bytes at least.
  MessageWriter m = tensor({600}, DType::kString);
  m.text(12, std::string(1000, 'd'));
  EXPECT_EQ(error_of(m), "it holds far fewer elements than its shape (600,) needs");
}

MessageWriter external(std::string_view location, std::string_view offset) {
  MessageWriter m = tensor({2}, DType::kFloat32);
  for (const auto& [key, value] :
       {std::pair(std::string_view("location"), location), std::pair(std::string_view("offset"), offset)}) {
    MessageWriter entry;
    entry.text(1, key);
    entry.text(2, value);
    m.message(13, entry);
  }
  m.integer(14, 1);
  return m;
}

TEST(TensorData, ExternalDataStayWithinTheirFile) {
  const std::string name = "tensor_data_test." + std::to_string(::getpid());
  std::ofstream(testing::TempDir() + name) << "1234";
  const std::string problem = error_of(external(name, "9223372036854775807"));
  EXPECT_NE(problem.find("need bytes 9223372036854775807 to 9223372036854775815"), std::string::npos)
      << problem;
  EXPECT_EQ(error_of(external(name, "9223372036854775808")),
            "the external data offset '9223372036854775808' is not a non-negative number");
  EXPECT_EQ(error_of(external(name + std::string("\0x", 2), "0")),
            "the location of its external data contains a zero byte");
  std::filesystem::remove(testing::TempDir() + name);
}

}  // namespace
}  // namespace assay::onnx::tensor_data_test
