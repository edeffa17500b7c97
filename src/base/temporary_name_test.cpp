#include "base/temporary_name.h"

#include <gtest/gtest.h>

#include <string>

namespace assay::temporary_name_test {
namespace {

TEST(TemporaryNames, SayWhatTheyAre) {
  const std::string file = temporary_name(TemporaryKind::kFile, 1, "a"),
                    data = temporary_name(TemporaryKind::kData, 1, "a");
  EXPECT_TRUE(is_temporary_name(file, TemporaryKind::kFile));
  EXPECT_FALSE(is_temporary_name(file, TemporaryKind::kData));
  EXPECT_TRUE(is_temporary_name(data, TemporaryKind::kData));
  EXPECT_TRUE(is_temporary_name_of(data, "a"));
  EXPECT_FALSE(is_temporary_name_of(data, "b"));
  for (const std::string& other :
       {file + "x", "x" + file, file.substr(1), std::string("assay-"), std::string(),
        file.substr(0, 20) + (file[20] == '0' ? '1' : '0') + file.substr(21)})
    EXPECT_FALSE(is_temporary_name(other, TemporaryKind::kFile)) << other;
}

}  // namespace
}  // namespace assay::temporary_name_test
