#include "base/time_trace.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "base/time_trace_file.h"

namespace assay::trace {
namespace internal {
std::atomic<bool> is_on{false};
}  // namespace internal

namespace {

/// The environment's variable with the folder in which child processes leave what they did.
constexpr const char* kFolderVariable = "ASSAY_TRACE_FOLDER";
constexpr int64_t kSamplePause = 10'000'000;  // nanoseconds

/// Of one thread, which alone adds to it; the lock is for the one who takes it.
struct Buffer {
  std::mutex mutex;
  Thread thread;
  std::unordered_map<std::string, uint32_t> places = {{"", 0}};

  uint32_t place_of(std::string_view text) {
    const auto [it, is_new] = places.emplace(text, static_cast<uint32_t>(thread.texts.size()));
    if (is_new) thread.texts.emplace_back(text);
    return it->second;
  }
};

/// Of one process: a fork's child makes its own, for locks of the parent's threads may be held for ever
/// there.
struct State {
  explicit State(uint32_t fork) : fork(fork) {}
  const uint32_t fork;
  std::mutex mutex;
  std::vector<std::shared_ptr<Buffer>> buffers;
  std::vector<MemorySample> memory;
  std::vector<Child> children;
  std::atomic<int64_t> events{0}, left_out{0}, last_sample{0};
};

std::atomic<State*> current{nullptr};
std::atomic<uint32_t> forks{0};
std::string process_name;
thread_local std::string thread_name;

/// A state of an earlier process, or of an earlier recording, is never freed: another thread may be in it.
State& state() {
  State* known = current.load(std::memory_order_acquire);
  const uint32_t now_forks = forks.load(std::memory_order_relaxed);
  while (known == nullptr || known->fork != now_forks) {
    auto* made = new State(now_forks);
    if (current.compare_exchange_strong(known, made, std::memory_order_acq_rel)) return *made;
    delete made;
  }
  return *known;
}

Buffer& buffer() {
  thread_local std::shared_ptr<Buffer> mine;
  thread_local const State* owner = nullptr;
  State& s = state();
  if (owner == &s) return *mine;
  mine = std::make_shared<Buffer>();
  mine->thread.id = ::gettid();
  mine->thread.name = thread_name;
  owner = &s;
  const std::lock_guard lock(s.mutex);
  s.buffers.push_back(mine);
  return *mine;
}

MemorySample memory_now() {
  MemorySample sample{.time = now()};
  std::FILE* file = std::fopen("/proc/self/statm", "re");
  if (file == nullptr) return sample;
  long long size = 0, resident = 0, shared = 0;
  if (std::fscanf(file, "%lld %lld %lld", &size, &resident, &shared) == 3) {
    const auto page = static_cast<int64_t>(::sysconf(_SC_PAGESIZE));
    sample.own = (resident - shared) * page;
    sample.mapped = shared * page;
  }
  std::fclose(file);
  return sample;
}

void sample_memory(State& s) {
  int64_t last = s.last_sample.load(std::memory_order_relaxed);
  if (now() - last < kSamplePause || !s.last_sample.compare_exchange_strong(last, now())) return;
  const MemorySample sample = memory_now();
  const std::lock_guard lock(s.mutex);
  s.memory.push_back(sample);
}

/// Looks at the memory also while no span ends. In the child of a fork there is none.
class Sampler {
 public:
  Sampler() {
    sigset_t all, before;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this] { watch(); });
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  ~Sampler() {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }

 private:
  void watch() {
    std::unique_lock lock(mutex_);
    while (!wake_.wait_for(lock, std::chrono::nanoseconds(kSamplePause), [&] { return ends_; }))
      sample_memory(state());
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  bool ends_ = false;
  std::thread thread_;
};

Sampler* sampler = nullptr;

/// The words of this process, as /proc has them.
std::string command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string words{std::istreambuf_iterator<char>(file), {}};
  while (!words.empty() && words.back() == '\0') words.pop_back();
  std::replace(words.begin(), words.end(), '\0', ' ');
  return words;
}

void count_forks() {
  static const int registered = ::pthread_atfork(nullptr, nullptr, [] {
    forks.fetch_add(1, std::memory_order_relaxed);
    sampler = nullptr;  // its thread is the parent's
  });
  (void)registered;
}

Process collected(State& s) {
  Process process{.id = ::getpid(), .name = process_name};
  const std::lock_guard lock(s.mutex);
  for (const std::shared_ptr<Buffer>& b : s.buffers) {
    const std::lock_guard own(b->mutex);
    if (b->thread.name.empty()) b->thread.name = b->thread.id == process.id ? "main" : "thread";
    process.threads.push_back(std::move(b->thread));
    b->thread = {};
    b->places = {{"", 0}};
  }
  process.memory = std::move(s.memory);
  process.children = std::move(s.children);
  process.left_out = s.left_out;
  return process;
}

}  // namespace

std::string_view kind_name(Kind kind) {
  constexpr std::string_view kNames[kKinds] = {"command", "file",    "build", "pass",   "tactic",
                                               "run",     "profile", "step",  "node",   "compare",
                                               "check",   "loop",    "wait",  "process"};
  return kNames[static_cast<size_t>(kind)];
}

std::string_view detail_name(Kind kind) {
  switch (kind) {
    case Kind::kPass:
      return "edits";
    case Kind::kTactic:
      return "for";
    case Kind::kRun:
      return "on";
    case Kind::kStep:
      return "tactic";
    case Kind::kProcess:
      return "outcome";
    default:
      return "detail";
  }
}

int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void record(std::string name, const std::string& folder) {
  count_forks();
  process_name = std::move(name);
  if (!folder.empty()) ::setenv(kFolderVariable, folder.c_str(), 1);
  current.store(new State(forks.load()));
  internal::is_on = true;
  sample_memory(state());
  if (sampler == nullptr) sampler = new Sampler;
}

Process take() {
  delete std::exchange(sampler, nullptr);
  State& s = state();
  const MemorySample last = memory_now();
  {
    const std::lock_guard lock(s.mutex);
    s.memory.push_back(last);
  }
  internal::is_on = false;
  return collected(s);
}

void leave_for_parent(const std::string& name) {
  const char* folder = std::getenv(kFolderVariable);
  if (folder == nullptr || !is_on()) return;
  if (!name.empty()) process_name = name;
  write_part(std::string(folder) + "/" + std::to_string(::getpid()) + "-" + std::to_string(now()), take());
}

std::vector<Process> left_by_children(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failed)) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<Process> processes;
  for (const std::string& path : paths)
    if (std::optional<Process> process = read_part(path)) processes.push_back(*std::move(process));
  return processes;
}

void name_thread(std::string_view name) { thread_name = name; }

void add(Kind kind, std::string_view name, std::string_view detail, int64_t start, int64_t end) {
  if (!is_on()) return;
  State& s = state();
  if (s.events.fetch_add(1, std::memory_order_relaxed) >= kMostEvents) {
    s.left_out.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  {
    Buffer& b = buffer();
    const std::lock_guard lock(b.mutex);
    b.thread.events.push_back({start, end, b.place_of(name), b.place_of(detail), kind});
  }
  sample_memory(s);
}

void child_started(int64_t id, std::string_view name) {
  if (!is_on()) return;
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.children.push_back({.id = id, .start = now(), .name = std::string(name), .outcome = {}});
}

void child_ended(int64_t id, std::string_view outcome) {
  if (!is_on()) return;
  State& s = state();
  const std::lock_guard lock(s.mutex);
  const auto it = std::find_if(s.children.rbegin(), s.children.rend(),
                               [&](const Child& c) { return c.id == id && c.end == 0; });
  if (it == s.children.rend()) return;
  it->end = now();
  it->outcome = outcome;
}

void Span::begin(Kind kind, std::string name, std::string detail) {
  kind_ = kind;
  name_ = std::move(name);
  detail_ = std::move(detail);
  start_ = now();
}

void Span::end() noexcept {
  try {
    add(kind_, name_, detail_, start_, now());
  } catch (const std::exception&) {
    // Without memory for it the span is not noted.
  }
}

namespace {

/// In a process that another of ours started, which asked for it: from its beginning to its end.
struct ForParent {
  ForParent() {
    const char* folder = std::getenv(kFolderVariable);
    if (folder != nullptr && *folder != '\0') record(command_line());
  }
  ~ForParent() { leave_for_parent(); }
} const for_parent;

}  // namespace
}  // namespace assay::trace
