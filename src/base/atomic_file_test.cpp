#include "base/atomic_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <vector>

#include "assay/error.h"
#include "base/temporary_folder.h"

namespace assay::atomic_file_test {
namespace {

namespace fs = std::filesystem;

class AtomicFileTest : public testing::Test {
 protected:
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

  const TemporaryFolder temporary_;
  const fs::path folder_ = temporary_.path();
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
              for (int i = 0; i < 300; ++i) {
                const std::string name = "out" + std::to_string(i);
                open.push_back(std::make_unique<AtomicFile>(path(name), folder_.string(), name,
                                                            TemporaryFile::Options{.is_named = i % 2 == 0}));
              }
              if (files() != 151) ::_exit(9);
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
  EXPECT_EQ(
      end_of([&] {
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

mode_t mode(const std::string& path) {
  struct stat st {};
  return ::stat(path.c_str(), &st) == 0 ? st.st_mode & 07777 : 0;
}

TEST_F(AtomicFileTest, KeepsThePermissionsOfWhatItReplaces) {
  const mode_t mask = ::umask(022);
  for (const mode_t wanted : {0600, 0644, 0400, 0777}) {
    write_old();
    ASSERT_EQ(::chmod(path("out").c_str(), wanted), 0);
    AtomicFile file(path("out"));
    file.write("new");
    file.commit();
    EXPECT_EQ(mode(path("out")), wanted);
    fs::remove(path("out"));
  }
  AtomicFile fresh(path("fresh"));
  fresh.commit();
  EXPECT_EQ(mode(path("fresh")), 0644u);
  AtomicFile script(path("script"));
  script.make_executable();
  script.commit();
  EXPECT_EQ(mode(path("script")), 0755u);
  ::umask(mask);
}

TEST_F(AtomicFileTest, NobodyElseMayReadItBeforeItIsInItsPlace) {
  for (const bool is_named : {false, true}) {
    AtomicFile file(path("out"), folder_.string(), "out",
                    {.kind = TemporaryKind::kData, .writer = 7, .is_named = is_named});
    file.write("secret");
    if (is_named) {
      EXPECT_EQ(mode(path(file.temporary_name())), 0600u);
      // Another process that cleans up leaves it alone.
      const pid_t child = ::fork();
      if (child == 0) {
        remove_stale_temporaries(folder_.string());
        ::_exit(0);
      }
      ::waitpid(child, nullptr, 0);
      EXPECT_EQ(files(), 1u);
    } else {
      EXPECT_EQ(files(), 0u);
    }
    file.commit();
    EXPECT_EQ(content("out"), "secret");
    fs::remove(path("out"));
  }
}

TEST_F(AtomicFileTest, APlantedLinkIsNotWrittenThrough) {
  std::ofstream(path("victim")) << "precious";
  // The names that earlier versions used.
  fs::create_symlink("victim", path("out." + std::to_string(::getpid()) + ".tmp"));
  AtomicFile file(path("out"));
  file.write("new");
  file.commit();
  EXPECT_EQ(content("victim"), "precious");
  EXPECT_EQ(content("out"), "new");
}

TEST_F(AtomicFileTest, ReplacesWhatALinkNames) {
  write_old();
  fs::create_symlink("out", path("link"));
  AtomicFile file(path("link"));
  file.write("new");
  file.commit();
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(content("out"), "new");
}

TEST_F(AtomicFileTest, APipeThatNobodyReadsIsRefused) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  try {
    AtomicFile file(path("pipe"));
    FAIL() << "opened";
  } catch (const Error& e) {
    EXPECT_NE(e.message().find("nobody reads it"), std::string::npos) << e.message();
  }
  const int reader = ::open(path("pipe").c_str(), O_RDONLY | O_NONBLOCK);
  AtomicFile file(path("pipe"));
  file.write("new");
  file.commit();
  char text[4] = {};
  EXPECT_EQ(::read(reader, text, 3), 3);
  EXPECT_STREQ(text, "new");
  ::close(reader);
}

TEST_F(AtomicFileTest, HasTwoNamesForAWhile) {
  write_old();
  for (const bool is_named : {false, true}) {
    AtomicFile file(path("out"), folder_.string(), "out",
                    {.kind = TemporaryKind::kData, .writer = 9, .is_named = is_named});
    file.write(is_named ? "second" : "first");
    file.prepare();
    file.publish();
    EXPECT_EQ(content(file.temporary_name()), is_named ? "second" : "first");
    file.also_commit();
    EXPECT_EQ(content("out"), is_named ? "second" : "first");
    EXPECT_EQ(files(), 2u);
    file.retire();
    EXPECT_EQ(files(), 1u);
  }
}

}  // namespace
}  // namespace assay::atomic_file_test
