#include "base/atomic_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <vector>

#include "assay/error.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

class AtomicFileTest : public testing::Test {
 protected:
  AtomicFileTest() {
    std::string pattern = (fs::temp_directory_path() / "atomic-file-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~AtomicFileTest() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string content(const std::string& name) const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  size_t files() const { return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), {})); }
  /// How a child process that does this ends: `exit 0`, `signal 15`.
  static std::string end_of(const std::function<void()>& work) {
    const pid_t child = ::fork();
    if (child == 0) {
      install_interrupt_cleanup();
      work();
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? "signal " + std::to_string(WTERMSIG(status))
                               : "exit " + std::to_string(WEXITSTATUS(status));
  }
  void write_old() const { std::ofstream(path("out")) << "old"; }

  fs::path folder_;
};

TEST_F(AtomicFileTest, AppearsWithItsCommit) {
  write_old();
  AtomicFile file(path("out"));
  file.write("new");
  EXPECT_EQ(content("out"), "old");
  file.prepare();
  EXPECT_EQ(content("out"), "old");
  file.commit();
  EXPECT_EQ(content("out"), "new");
  EXPECT_EQ(files(), 1u);
}

TEST_F(AtomicFileTest, LeavesNothingWithoutACommit) {
  write_old();
  for (const bool is_prepared : {false, true}) {
    AtomicFile file(path("out"));
    file.write("new");
    if (is_prepared) file.prepare();
  }
  EXPECT_EQ(content("out"), "old");
  EXPECT_EQ(files(), 1u);
}

TEST_F(AtomicFileTest, AnInterruptRemovesEveryTemporary) {
  write_old();
  EXPECT_EQ(end_of([&] {
              std::vector<std::unique_ptr<AtomicFile>> open;
              for (int i = 0; i < 300; ++i)
                open.push_back(std::make_unique<AtomicFile>(path("out" + std::to_string(i))));
              open.resize(250);
              AtomicFile last(path("out"));
              last.write("new");
              ::raise(SIGTERM);
            }),
            "signal 15");
  EXPECT_EQ(content("out"), "old");
  EXPECT_EQ(files(), 1u);
}

TEST_F(AtomicFileTest, ADelayedInterruptComesAfterTheLastFile) {
  EXPECT_EQ(end_of([&] {
              AtomicFile first(path("a")), second(path("b"));
              const InterruptDelay delay;
              first.commit();
              ::raise(SIGTERM);
              second.commit();
            }),
            "signal 15");
  EXPECT_EQ(files(), 2u) << "both or none";
  EXPECT_EQ(end_of([] { const InterruptDelay delay; }), "exit 0");
}

TEST_F(AtomicFileTest, AFailedWriteLeavesTheOldFile) {
  write_old();
  EXPECT_EQ(end_of([&] {
              ::signal(SIGXFSZ, SIG_IGN);
              const rlimit limit{1000, 1000};
              ::setrlimit(RLIMIT_FSIZE, &limit);
              try {
                AtomicFile file(path("out"));
                file.write(std::string(2000, 'x'));
                file.commit();
              } catch (const Error& e) {
                const std::string what = e.what();
                ::_exit(what.find("cannot write") == 0 && what.find("File too large") != std::string::npos ? 7 : 8);
              }
            }),
            "exit 7");
  EXPECT_EQ(content("out"), "old");
  EXPECT_EQ(files(), 1u);
}

}  // namespace
}  // namespace assay
