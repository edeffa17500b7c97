// Notes the work of a process in time: spans of its threads, its memory, the processes that it starts.
// Without record() nothing is noted; with it each span costs a lock that no other thread holds and two looks
// at the clock.
#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time_trace_record.h"

namespace assay::trace {

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
/// `name` unless that is empty. Does nothing where no parent asked for it; a failure is not reported. A
/// program that was started does so by itself, and records from its beginning.
void leave_for_parent(const std::string& name = {});
/// The records that child processes left in `folder`; files that are damaged are left out.
std::vector<Process> left_by_children(const std::string& folder);

void name_thread(std::string_view name);
/// Adds a span of this thread.
void add(Kind kind, std::string_view name, std::string_view detail, int64_t start, int64_t end);
/// The beginning and the end of a child process.
void child_started(int64_t id, std::string_view name);
void child_ended(int64_t id, std::string_view outcome = {});

/// Notes its own lifetime.
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
