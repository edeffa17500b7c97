#include "base/mapped_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/temporary_folder.h"

namespace assay::mapped_file_test {
namespace {

namespace fs = std::filesystem;

class MappedFiles : public testing::Test {
 protected:
  std::string make(const std::string& name) const {
    const std::string path = (folder_ / name).string();
    std::ofstream(path) << std::string(100000, name[0]);
    return path;
  }

  const TemporaryFolder temporary_;
  const fs::path folder_ = temporary_.path();
};

TEST_F(MappedFiles, AShortenedFileEndsTheProcessWithASentence) {
  const auto other = MappedFile::open(make("other"));
  (void)MappedFile::open(make("gone"));  // mapped no longer
  const std::string path = make("file");
  const auto file = MappedFile::open(path);
  EXPECT_EXIT(
      {
        fs::resize_file(path, 10);
        volatile char last = file->data()[99999];
        (void)last;
      },
      testing::ExitedWithCode(1), "cannot read " + path + ": it became shorter");
  EXPECT_EQ(other->bytes().back(), 'o');
}

TEST_F(MappedFiles, KnowsWhenAnotherFileHasTakenItsName) {
  const auto file = MappedFile::open(make("file"));
  EXPECT_TRUE(file->is_still_there());
  EXPECT_EQ(file->names(), 1u);
  make("next");
  fs::rename(folder_ / "next", folder_ / "file");
  EXPECT_FALSE(file->is_still_there());
  EXPECT_EQ(file->bytes()[0], 'f');
}

}  // namespace
}  // namespace assay::mapped_file_test
