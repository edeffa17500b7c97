#include "base/output_path.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "assay/error.h"
#include "base/descriptor.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

class OutputPath : public ::testing::Test {
 protected:
  OutputPath() {
    char name[] = "/tmp/output_path_XXXXXX";
    folder_ = ::mkdtemp(name);
  }
  ~OutputPath() override {
    fs::permissions(folder_, fs::perms::owner_all);
    fs::remove_all(folder_);
  }
  std::string at(const std::string& name) const { return folder_ + "/" + name; }
  std::string file(const std::string& name) const {
    std::ofstream(at(name)) << "old";
    return at(name);
  }
  size_t entries() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  static std::string refusal(void (*check)(const std::string&), const std::string& path) {
    try {
      check(path);
    } catch (const Error& e) {
      return e.what();
    }
    return {};
  }
  std::string folder_;
};

TEST_F(OutputPath, WhatCanBeWrittenIsLeftAsItIs) {
  const std::string old = file("old");
  for (const std::string& path : {old, at("new"), at("made/on/the/way/new")}) {
    EXPECT_EQ(refusal(check_output_file, path), "") << path;
    EXPECT_EQ(refusal(check_output_file, path), "") << path;
  }
  EXPECT_EQ(refusal(check_output_folder, folder_), "");
  EXPECT_EQ(refusal(check_output_folder, at("made/on/the/way")), "");
  EXPECT_EQ(entries(), 1U);
  EXPECT_EQ(fs::file_size(old), 3U);
}

TEST_F(OutputPath, FoldersAndWhatIsNoFolder) {
  EXPECT_EQ(refusal(check_output_file, folder_), "cannot write " + folder_ + ": it is a folder");
  EXPECT_EQ(refusal(check_output_file, at("new/")),
            "cannot write " + at("new/") + ": the name is that of a folder");
  const std::string old = file("old");
  EXPECT_EQ(refusal(check_output_file, old + "/new"),
            "cannot create the folder " + old + ": Not a directory");
  EXPECT_EQ(refusal(check_output_file, old + "/a/new"),
            "cannot create the folder " + old + "/a: Not a directory");
  EXPECT_EQ(refusal(check_output_folder, old), "cannot make the folder " + old + ": it is a regular file");
  EXPECT_NE(refusal(check_output_file, ""), "");
  EXPECT_NE(refusal(check_output_folder, ""), "");
}

TEST_F(OutputPath, NamesThatTheSystemRefuses) {
  EXPECT_EQ(refusal(check_output_file, at(std::string(300, 'x'))),
            "cannot write " + at(std::string(300, 'x')) + ": File name too long");
  fs::create_symlink("b", at("a"));
  fs::create_symlink("a", at("b"));
  EXPECT_NE(refusal(check_output_file, at("a")), "");
}

TEST_F(OutputPath, LinksAreFollowed) {
  fs::create_symlink("target", at("link"));
  EXPECT_EQ(refusal(check_output_file, at("link")), "");
  fs::create_symlink("/proc/none", at("bad"));
  EXPECT_NE(refusal(check_output_file, at("bad")), "");
}

TEST_F(OutputPath, FileSystemsOfTheKernel) {
  EXPECT_EQ(
      refusal(check_output_file, "/proc/x.plan"),
      "cannot write /proc/x.plan: /proc is of the file system proc, where nobody but the kernel makes files");
  EXPECT_NE(refusal(check_output_file, "/proc/a/b/x.plan"), "");
  EXPECT_NE(refusal(check_output_folder, "/proc/a"), "");
}

TEST_F(OutputPath, SpecialFiles) {
  EXPECT_EQ(refusal(check_output_file, "/dev/null"), "");
  EXPECT_TRUE(is_special_file("/dev/null"));
  EXPECT_FALSE(is_special_file(file("old")));
  EXPECT_FALSE(is_special_file(at("new")));
  // The pipe has no reader: it is not opened, which would wait.
  ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
  EXPECT_EQ(refusal(check_output_file, at("pipe")), "");
  const Descriptor socket(::socket(AF_UNIX, SOCK_STREAM, 0));
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  std::strncpy(address.sun_path, at("socket").c_str(), sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(refusal(check_output_file, at("socket")), "cannot write " + at("socket") + ": it is a socket");
}

TEST_F(OutputPath, Permissions) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  const std::string old = file("old");
  fs::permissions(folder_, fs::perms::owner_read | fs::perms::owner_exec);
  for (const std::string& path : {old, at("new"), at("a/b/new")})
    EXPECT_EQ(refusal(check_output_file, path), "cannot write " + path + ": Permission denied");
}

}  // namespace
}  // namespace assay
