#include "script/child.h"

#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "base/log.h"
#include "script/data_script.h"
#include "script/script_test_util.h"

namespace assay::script::child_test {
namespace {

class ChildTest : public testing::Test {
 protected:
  void SetUp() override { ASSAY_NEEDS_PYTHON(); }
  DataScript data(const std::string& text) {
    return DataScript(scripts_.add("data.py", with_numpy(text), "load_data"), test_interpreter());
  }
  Scripts scripts_;
};

/// Waits until `test` holds, with a timeout that is sufficient on a busy machine.
template <typename Test>
bool soon(Test&& test) {
  for (int i = 0; i < 6000; ++i) {
    if (test()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

bool is_alive(pid_t pid) {
  std::ifstream status(fmt::format("/proc/{}/stat", pid));
  std::string text((std::istreambuf_iterator<char>(status)), {});
  return !text.empty() && text.find(") Z ") == std::string::npos;
}

int64_t resident_kilobytes(int64_t pid) {
  std::ifstream file(fmt::format("/proc/{}/statm", pid));
  int64_t total = 0, resident = 0;
  file >> total >> resident;
  return resident * ::sysconf(_SC_PAGESIZE) / 1024;
}

TEST_F(ChildTest, AnUnknownOperation) {
  Child child({"a test", test_interpreter()});
  expect_contains(error_of([&] { child.call("nothing.at_all", {}, "nothing"); }), {"ModuleNotFoundError"});
  expect_contains(error_of([&] { child.call("data.nothing", {}, "nothing"); }),
                  {"AttributeError", "nothing"});
}

TEST_F(ChildTest, EndsWithItsObject) {
  pid_t pid = 0;
  const std::string mark = scripts_.path("mark");
  {
    DataScript script = data(fmt::format(R"(
import atexit, os
atexit.register(lambda: open({:?}, "w").write("ended"))
def load_data():
    yield {{"pid": np.int64(os.getpid())}}
)",
                                         mark));
    pid = static_cast<pid_t>(script.next()->at(0).tensor.item<int64_t>());
    EXPECT_TRUE(is_alive(pid));
  }
  EXPECT_FALSE(is_alive(pid));
  EXPECT_TRUE(std::filesystem::exists(mark));  // by itself, not by a signal
}

TEST_F(ChildTest, NobodyWaitsForOneThatHangs) {
  pid_t pid = 0;
  {
    DataScript script = data(R"(
import os, threading, time
def load_data():
    threading.Thread(target=time.sleep, args=(60,)).start()
    yield {"pid": np.int64(os.getpid())}
    raise ValueError
)");
    pid = static_cast<pid_t>(script.next()->at(0).tensor.item<int64_t>());
    EXPECT_NE(error_of([&] { script.next(); }), "no error");
  }
  EXPECT_FALSE(is_alive(pid));
}

/// A process that waits for a script that never ends: its process id, and the script's.
class EndlessScript {
 public:
  EndlessScript(Scripts& scripts, const std::string& how) {
    const std::string mark = scripts.path("pid");
    const Reference reference = scripts.add("endless.py",
                                            fmt::format(R"(
import ctypes, os
def load_data():
    open({0:?}, "w").write(str(os.getpid()))
    os.rename({0:?}, {0:?} + ".done")
    {1}
    yield {{}}
)",
                                                        mark, how),
                                            "load_data");
    log::flush();
    process = ::fork();
    if (process == 0) {
      ::setpgid(0, 0);
      // In a thread that is not the first one: the script's process must not depend on which.
      std::thread([&] { error_of([&] { DataScript(reference, test_interpreter()).next(); }); }).join();
      ::_exit(9);
    }
    EXPECT_TRUE(soon([&] { return std::filesystem::exists(mark + ".done"); }));
    std::ifstream(mark + ".done") >> script;
  }
  ~EndlessScript() {
    ::kill(process, SIGKILL);
    ::waitpid(process, nullptr, 0);
  }
  pid_t process = 0, script = 0;
};

TEST_F(ChildTest, CtrlCEndsBothProcesses) {
  EndlessScript endless(scripts_, "while True: pass");
  ASSERT_TRUE(is_alive(endless.script));
  ::kill(-endless.process, SIGINT);  // as a terminal does
  EXPECT_TRUE(soon([&] { return !is_alive(endless.process) && !is_alive(endless.script); }));
}

TEST_F(ChildTest, AKilledProcessLeavesNoScriptBehind) {
  for (const std::string how : {"while True: pass", "ctypes.CDLL(None).sleep(60)"}) {
    EndlessScript endless(scripts_, how);
    ASSERT_TRUE(is_alive(endless.script));
    ::kill(endless.process, SIGKILL);
    EXPECT_TRUE(soon([&] { return !is_alive(endless.script); })) << how;
    std::filesystem::remove(scripts_.path("pid.done"));
  }
}

TEST_F(ChildTest, OutlivesTheThreadThatMadeIt) {
  std::unique_ptr<DataScript> script;
  std::thread([&] {
    script = std::make_unique<DataScript>(data("def load_data():\n    while True: yield {'x': np.zeros(2)}"));
    script->next();
  }).join();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_TRUE(script->next());
}

TEST_F(ChildTest, FromSeveralThreads) {
  scripts_.add(
      "data.py",
      "import numpy as np\ndef load_data():\n    for i in range(20): yield {'x': np.full(1 << 16, i)}\n",
      "f");
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      DataScript script(parse_reference(scripts_.path("data.py"), "load_data"), test_interpreter());
      int64_t i = 0;
      while (const auto feed = script.next())
        right += feed->at(0).tensor.data<int64_t>()[1000] == i++ ? 1 : 0;
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(right, 80);
}

TEST_F(ChildTest, WithoutStandardStreams) {
  log::flush();
  const pid_t process = ::fork();
  if (process == 0) {
    for (const int fd : {0, 1, 2}) ::close(fd);
    DataScript script = data("def load_data():\n    print('x')\n    yield {'x': np.full(1 << 20, 7)}");
    ::_exit(error_of([&] {
              if (script.next()->at(0).tensor.data<int64_t>()[5] != 7) fail(ErrorCode::kInternal, "wrong");
            }) == "no error"
                ? 0
                : 1);
  }
  int status = -1;
  ::waitpid(process, &status, 0);
  EXPECT_EQ(status, 0);
}

// ASSAY_BULK_ITERATIONS=10000 measures.
TEST_F(ChildTest, MemoryStaysConstant) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "skipped: the address sanitizer keeps what is freed";
#endif
  const char* wanted = std::getenv("ASSAY_BULK_ITERATIONS");
  const int iterations = wanted != nullptr ? std::atoi(wanted) : 600;
  DataScript script = data(R"(
import os
def load_data():
    i = 0
    x = np.ones((1 << 20) // 4, np.float32)
    while True:
        x[0] = i
        yield {"x": x, "pid": np.int64(os.getpid())}
        i += 1
)");
  const auto resident = [](int64_t pid) {
    return std::pair(resident_kilobytes(::getpid()), resident_kilobytes(pid));
  };
  std::pair<int64_t, int64_t> early, last;
  auto started = std::chrono::steady_clock::now();
  for (int i = 0; i < iterations; ++i) {
    const auto feed = script.next();
    ASSERT_EQ(feed->at(0).tensor.data<float>()[0], static_cast<float>(i));
    const int64_t pid = feed->at(1).tensor.item<int64_t>();
    if (i == 0) started = std::chrono::steady_clock::now();
    if (i == iterations / 10) early = resident(pid);
    if (i + 1 == iterations) last = resident(pid);
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - started;
  fmt::print(
      "{} iterations of 1 MiB: {:.0f} MB/s; resident here {} -> {} kB, in the script's process {} -> {} kB\n",
      iterations, (iterations - 1) * 1.048576 / took.count(), early.first, last.first, early.second,
      last.second);
  EXPECT_LT(last.first, early.first + 2048);
  EXPECT_LT(last.second, early.second + 2048);
}

}  // namespace
}  // namespace assay::script::child_test
