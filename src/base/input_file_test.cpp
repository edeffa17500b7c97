#include "base/input_file.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "assay/error.h"
#include "base/temporary_folder.h"

namespace assay::input_file_test {
namespace {

namespace fs = std::filesystem;

class InputFile : public testing::Test {
 protected:
  InputFile() {
    fs::create_directories(folder_ / "in/deep");
    for (const char* name : {"outside", "in/file", "in/deep/file"}) std::ofstream(folder_ / name) << name;
    EXPECT_EQ(::mkfifo((folder_ / "in/pipe").c_str(), 0600), 0);
  }

  static std::string text(const Descriptor& file) {
    std::string out(100, '\0');
    out.resize(static_cast<size_t>(::read(file.get(), out.data(), out.size())));
    return out;
  }
  /// The content of the file, or the reason why it is not opened.
  std::string beneath(const std::string& location) const {
    try {
      const BeneathResult r = open_input_beneath((folder_ / "in").string(), location);
      if (r.status == BeneathResult::Status::kMissing) return "missing";
      if (r.status == BeneathResult::Status::kOutside) return "outside: " + r.link;
      return text(r.file);
    } catch (const Error& e) {
      return e.message().substr(e.message().rfind(": ") + 2);
    }
  }
  std::string opened(const std::string& path) const {
    try {
      return text(open_input(path));
    } catch (const Error& e) {
      return e.message().substr(e.message().rfind(": ") + 2);
    }
  }
  void link(const std::string& to, const char* name) const { fs::create_symlink(to, folder_ / "in" / name); }

  const TemporaryFolder temporary_;
  const fs::path folder_ = temporary_.path();
};

// A test that blocks on a pipe would time out.
TEST_F(InputFile, OnlyRegularFilesAreOpened) {
  EXPECT_EQ(opened((folder_ / "in/file").string()), "in/file");
  EXPECT_EQ(opened((folder_ / "in/pipe").string()), "it is a pipe");
  EXPECT_EQ(opened((folder_ / "in").string()), "it is a folder");
  EXPECT_EQ(opened("/dev/zero"), "it is a device");
  EXPECT_EQ(opened((folder_ / "none").string()), "No such file or directory");
  EXPECT_EQ(opened((folder_ / "in/file/x").string()), "Not a directory");
  const int s = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  const std::string path = (folder_ / "s").string();
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(s, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(opened(path), "it is a socket");
  ::close(s);
  link("pipe", "to_pipe");
  EXPECT_EQ(opened((folder_ / "in/to_pipe").string()), "it is a pipe");
}

TEST_F(InputFile, LinksMayNotLeaveTheFolder) {
  link("deep/file", "inner");
  link("deep", "folder");
  link("../in/deep", "round");
  link("../outside", "outer");
  link("deep/../../outside", "winding");
  link("/etc/hostname", "absolute");
  link((folder_ / "in/file").string(), "absolute_inside");
  link("loop", "loop");
  link("outer", "to_outer");
  link("nowhere", "dangling");
  EXPECT_EQ(beneath("file"), "in/file");
  EXPECT_EQ(beneath("./deep//file"), "in/deep/file");
  EXPECT_EQ(beneath("inner"), "in/deep/file");
  EXPECT_EQ(beneath("folder/file"), "in/deep/file");
  EXPECT_EQ(beneath("absolute_inside"), "in/file");
  EXPECT_EQ(beneath("round/file"), "outside: ../in/deep");
  EXPECT_EQ(beneath("outer"), "outside: ../outside");
  EXPECT_EQ(beneath("to_outer"), "outside: ../outside");
  EXPECT_EQ(beneath("winding"), "outside: deep/../../outside");
  EXPECT_EQ(beneath("absolute"), "outside: /etc/hostname");
  EXPECT_EQ(beneath("loop"), "Too many levels of symbolic links");
  EXPECT_EQ(beneath("dangling"), "missing");
  EXPECT_EQ(beneath("none"), "missing");
  EXPECT_EQ(beneath("file/x"), "Not a directory");
  EXPECT_EQ(beneath("deep"), "it is a folder");
  EXPECT_EQ(beneath("pipe"), "it is a pipe");
}

}  // namespace
}  // namespace assay::input_file_test
