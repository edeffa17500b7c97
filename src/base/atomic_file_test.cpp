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
#include "base/stale_temporaries.h"
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

/// The content seen by a reader that opened the file before it was written.
std::string rest_of(int fd) {
  char bytes[64];
  const ssize_t got = ::pread(fd, bytes, sizeof bytes, 0);
  return got < 0 ? "error" : std::string(bytes, static_cast<size_t>(got));
}

TEST_F(AtomicFileTest, FillsAnEmptyFileThatSomebodyHoldsOpen) {
  for (const int flags : {O_RDONLY, O_WRONLY, O_RDWR}) {
    fs::remove(path("out"));
    std::ofstream(path("out")).flush();
    const int holder = ::open(path("out").c_str(), flags | O_CLOEXEC);
    const int reader = flags == O_WRONLY ? ::open(path("out").c_str(), O_RDONLY | O_CLOEXEC) : ::dup(holder);
    {
      AtomicFile file(path("out"));
      file.write("never");
    }
    EXPECT_EQ(rest_of(reader), "");
    AtomicFile file(path("out"));
    file.write("new");
    file.prepare();
    EXPECT_EQ(rest_of(reader), "");
    file.commit();
    EXPECT_EQ(rest_of(reader), "new");
    EXPECT_EQ(content("out"), "new");
    ::close(holder);
    ::close(reader);
  }
  EXPECT_EQ(files(), 1U);
}

TEST_F(AtomicFileTest, ReplacesAnEmptyFileThatNobodyHoldsAndAFullOneInAnyCase) {
  const auto inode = [&] {
    struct stat st {};
    ::stat(path("out").c_str(), &st);
    return st.st_ino;
  };
  std::ofstream(path("out")).flush();
  fs::create_hard_link(path("out"), path("other"));
  AtomicFile empty(path("out"));
  empty.write("new");
  empty.commit();
  EXPECT_EQ(content("out"), "new");
  EXPECT_EQ(content("other"), "");
  const auto before = inode();
  const int reader = ::open(path("out").c_str(), O_RDONLY | O_CLOEXEC);
  AtomicFile full(path("out"));
  full.write("newer");
  full.commit();
  EXPECT_NE(inode(), before);
  EXPECT_EQ(content("out"), "newer");
  EXPECT_EQ(rest_of(reader), "new");
  ::close(reader);
}

TEST_F(AtomicFileTest, TwoVersionsOfAHeldFileComeOneAfterTheOther) {
  std::ofstream(path("out")).flush();
  const int reader = ::open(path("out").c_str(), O_RDONLY | O_CLOEXEC);
  AtomicFile first(path("out")), last(path("out"));
  first.write("a long first version");
  last.write("last");
  first.commit();
  EXPECT_EQ(rest_of(reader), "a long first version");
  last.commit();
  EXPECT_EQ(rest_of(reader), "last");
  ::close(reader);
}

TEST_F(AtomicFileTest, AHeldFileThatIsRenamedMeanwhileIsLeftAlone) {
  std::ofstream(path("out")).flush();
  const int reader = ::open(path("out").c_str(), O_RDONLY | O_CLOEXEC);
  AtomicFile file(path("out"));
  file.write("new");
  fs::rename(path("out"), path("moved"));
  file.commit();
  EXPECT_EQ(content("out"), "new");
  EXPECT_EQ(rest_of(reader), "");
  ::close(reader);
}

TEST_F(AtomicFileTest, AHeldFileStaysEmptyWhenTheDiskIsFull) {
  std::ofstream(path("out")).flush();
  const int reader = ::open(path("out").c_str(), O_RDONLY | O_CLOEXEC);
  const std::string end = end_of([&] {
    AtomicFile file(path("out"));
    file.write(std::string(100000, 'x'));
    file.prepare();
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{50000, 50000};
    ::setrlimit(RLIMIT_FSIZE, &small);
    try {
      file.commit();
    } catch (const Error&) {
      ::_exit(7);
    }
  });
  EXPECT_EQ(end, "exit 7");
  EXPECT_EQ(fs::file_size(path("out")), 0U);
  ::close(reader);
}

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
