#include "base/stale_temporaries.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <set>

#include "base/descriptor.h"
#include "base/temporary_folder.h"
#include "base/temporary_name.h"

namespace assay::stale_temporaries_test {
namespace {

namespace fs = std::filesystem;

class StaleTemporaries : public testing::Test {
 protected:
  std::string make(const std::string& name, const std::string& text = "half") const {
    std::ofstream(folder_ / name) << text;
    return name;
  }
  std::set<std::string> left() const {
    remove_stale_temporaries(folder_.string());
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) names.insert(entry.path().filename().string());
    return names;
  }
  Descriptor locked(const std::string& name) const {
    Descriptor file(::open((folder_ / name).c_str(), O_RDONLY | O_CLOEXEC));
    EXPECT_EQ(::flock(file.get(), LOCK_EX | LOCK_NB), 0);
    return file;
  }
  using Names = std::set<std::string>;

  const TemporaryFolder temporary_;
  const fs::path folder_ = temporary_.path();
};

TEST_F(StaleTemporaries, TheDeadWritersGoAndNothingElse) {
  make(temporary_name(TemporaryKind::kFile, 1, "a"));
  make(temporary_name(TemporaryKind::kData, 2, "b"));
  const std::string live = make(temporary_name(TemporaryKind::kFile, 3, "c"));
  const Names strangers = {"file", "assay-1.tmp", temporary_name(TemporaryKind::kFile, 4, "d") + "x",
                           "assay-00000000-0000000000000005-0000000000000005-00000005.tmp"};
  for (const std::string& name : strangers) make(name);
  fs::create_directory(folder_ / temporary_name(TemporaryKind::kFile, 6, "e"));
  fs::create_symlink("file", folder_ / temporary_name(TemporaryKind::kFile, 7, "f"));
  ASSERT_EQ(::mkfifo((folder_ / temporary_name(TemporaryKind::kFile, 8, "g")).c_str(), 0600), 0);
  Names expected = strangers;
  expected.insert({live, temporary_name(TemporaryKind::kFile, 6, "e"),
                   temporary_name(TemporaryKind::kFile, 7, "f"),
                   temporary_name(TemporaryKind::kFile, 8, "g")});
  {
    const Descriptor lock = locked(live);
    EXPECT_EQ(left(), expected);
  }
  expected.erase(live);
  EXPECT_EQ(left(), expected);
}

TEST_F(StaleTemporaries, OneLockKeepsAllOfAWriter) {
  const std::string first = make(temporary_name(TemporaryKind::kData, 1, "a"));
  const std::string second = make(temporary_name(TemporaryKind::kData, 1, "b"));
  {
    const Descriptor lock = locked(first);
    EXPECT_EQ(left(), (Names{first, second}));
  }
  EXPECT_EQ(left(), Names());
}

TEST_F(StaleTemporaries, DataThatAModelNamesStay) {
  const std::string data = make(temporary_name(TemporaryKind::kData, 1, "a"));
  make("model.onnx", "location" + data + "offset");
  // A model that was not finished needs nothing.
  const std::string other = make(temporary_name(TemporaryKind::kData, 2, "a"));
  make(temporary_name(TemporaryKind::kFile, 3, "model.onnx"), other);
  EXPECT_EQ(left(), (Names{data, "model.onnx"}));
  fs::remove(folder_ / "model.onnx");
  EXPECT_EQ(left(), Names());
}

TEST_F(StaleTemporaries, ThoseOfAnotherMachineOrBeforeItsStartGoAfterADay) {
  // As this start of the machine is not that of the name, and the sum is right.
  std::string name = "assay-deadbeef-0000000000000001-0000000000000001-";
  uint64_t hash = 0xCBF29CE484222325;
  for (const char ch : name) hash = (hash ^ static_cast<unsigned char>(ch)) * 0x100000001B3;
  char check[9];
  std::snprintf(check, sizeof check, "%08x", static_cast<unsigned>(static_cast<uint32_t>(hash ^ hash >> 32)));
  name = make(name + check + ".tmp");
  ASSERT_TRUE(is_temporary_name(name, TemporaryKind::kFile));
  EXPECT_EQ(left(), Names{name});
  const time_t old = std::time(nullptr) - 25 * 60 * 60;
  const timeval times[2] = {{old, 0}, {old, 0}};
  ASSERT_EQ(::utimes((folder_ / name).c_str(), times), 0);
  EXPECT_EQ(left(), Names());
}

}  // namespace
}  // namespace assay::stale_temporaries_test
