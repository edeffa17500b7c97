// What a process does in time: spans of its threads, its memory, the processes that it starts. Nothing is
// noted until record() is called; then each span costs a lock that nobody else holds and two looks at the clock.
#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::trace {

enum class Kind : uint8_t {
  kCommand,
  kModel,    ///< a file is read or written
  kBuild,    ///< a phase of a build
  kPass,     ///< detail: its edits
  kTactic,   ///< one timed run of a candidate; detail: what it is for
  kRun,      ///< a model runs; detail: on what
  kProfile,  ///< runs whose steps are timed for a profile
  kStep,     ///< a step of an engine, by the names of its ONNX nodes; detail: the tactic
  kNode,     ///< a node in the reference
  kCompare,
  kCheck,    ///< of a candidate in a search
  kLoop,     ///< a thread of a pool takes part in a loop
  kWait,     ///< for other threads or processes
  kProcess,  ///< the life of a child process, as its parent sees it
};
inline constexpr int kKinds = static_cast<int>(Kind::kProcess) + 1;
/// The category in a file: "step".
std::string_view kind_name(Kind kind);
/// What a span's detail says: "tactic"; empty where there are none.
std::string_view detail_name(Kind kind);

struct Event {
  int64_t start = 0, end = 0;         ///< nanoseconds of the steady clock
  uint32_t name = 0, detail = 0;      ///< places in Thread::texts; the first text is empty
  Kind kind = Kind::kCommand;
};

struct Thread {
  int64_t id = 0;
  std::string name;
  std::vector<std::string> texts = {""};
  std::vector<Event> events;  ///< in the order in which they ended
};

/// Resident bytes of the process.
struct MemorySample {
  int64_t time = 0, own = 0, mapped = 0;  ///< `mapped`: pages of files, which the system can drop
};

struct Child {
  int64_t id = 0, start = 0, end = 0;
  std::string name, outcome;
};

struct Process {
  int64_t id = 0;
  std::string name;
  std::vector<Thread> threads;
  std::vector<MemorySample> memory;
  std::vector<Child> children;
  int64_t left_out = 0;  ///< spans beyond kMostEvents
};

/// Spans of a process that are kept: some 100 MB.
inline constexpr int64_t kMostEvents = 2'000'000;

namespace internal {
extern std::atomic<bool> is_on;
}  // namespace internal

inline bool is_on() { return internal::is_on.load(std::memory_order_relaxed); }
/// Nanoseconds of the steady clock.
int64_t now();

/// Begins to note what this process does, under `name`. Processes that it starts leave what they did in
/// `folder`, which they find in their environment; empty: they do not.
void record(std::string name, const std::string& folder = {});
/// Ends it and returns what was noted. Spans that are still open are not part of it.
Process take();

/// In a child that shares this process's program, before it ends: leaves what it did for its parent, under
/// `name` unless that is empty. Does nothing where nobody asked for it; a failure is not reported. A program that
/// was started does so by itself, and records from its beginning.
void leave_for_parent(const std::string& name = {});
/// What child processes left in `folder`; files that are damaged are left out.
std::vector<Process> left_by_children(const std::string& folder);

void name_thread(std::string_view name);
/// Adds a span of this thread.
void add(Kind kind, std::string_view name, std::string_view detail, int64_t start, int64_t end);
/// The beginning and the end of a child process.
void child_started(int64_t id, std::string_view name);
void child_ended(int64_t id, std::string_view outcome = {});

/// What happens during its lifetime.
class Span {
 public:
  Span(Kind kind, std::string_view name, std::string_view detail = {}) {
    if (is_on()) begin(kind, std::string(name), std::string(detail));
  }
  /// The name, and the detail, are made only when they are wanted.
  template <std::invocable Name>
  Span(Kind kind, Name&& name, std::string_view detail = {}) {
    if (is_on()) begin(kind, std::string(name()), std::string(detail));
  }
  ~Span() {
    if (start_ != 0) end();
  }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

 private:
  void begin(Kind kind, std::string name, std::string detail);
  void end() noexcept;

  Kind kind_ = Kind::kCommand;
  int64_t start_ = 0;
  std::string name_, detail_;
};

}  // namespace assay::trace
