#include "onnx/data_mark.h"

#include <gtest/gtest.h>

namespace assay::onnx::data_mark_test {
namespace {

TEST(DataMark, TellsTheChecksumOfTheWholeFile) {
  for (const size_t size : {0, 64, 6400}) {
    const std::string bytes(size, 'w');
    Sha1 sum;
    sum.update(bytes);
    const std::string file = bytes + data_mark(sum);
    ASSERT_EQ(file.size(), size + 64);
    Sha1 whole;
    whole.update(file);
    EXPECT_EQ(marked_checksum(file), whole.digest());
  }
}

TEST(DataMark, IsAbsentFromOtherFiles) {
  EXPECT_EQ(marked_checksum(""), std::nullopt);
  EXPECT_EQ(marked_checksum(std::string(63, '\0')), std::nullopt);
  EXPECT_EQ(marked_checksum(std::string(128, 'x')), std::nullopt);
  Sha1 sum;
  sum.update(std::string(64, 'w'));
  const std::string mark = data_mark(sum);
  EXPECT_EQ(marked_checksum(std::string(128, 'w') + mark), std::nullopt) << "something was put before it";
  EXPECT_EQ(marked_checksum(std::string(64, 'w') + mark + "more"), std::nullopt) << "something was appended";
}

}  // namespace
}  // namespace assay::onnx::data_mark_test
