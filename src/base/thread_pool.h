// A fork-join thread pool for loops.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <thread>
#include <vector>

namespace assay {

/// A borrowed callable void(int64_t part); lives as long as the call.
class PartBody {
 public:
  template <typename F>
  PartBody(F& f)  // NOLINT: converts on purpose
      : object_(const_cast<void*>(static_cast<const void*>(&f))),
        call_([](void* o, int64_t part) { (*static_cast<F*>(o))(part); }) {}
  void operator()(int64_t part) const { call_(object_, part); }

 private:
  void* object_;
  void (*call_)(void*, int64_t);
};

/// A team of threads. The thread that calls run() is a member; the others are started by the first loop that
/// has work for them.
///
/// Free threads take parts in order, so a thread that gets no processor
/// (on a loaded machine) delays no other: the caller does its parts. An
/// idle thread spins for kSpinMicroseconds, because waking a sleeping one
/// takes longer than most loops; then it sleeps until run() needs it.
///
/// A process may have several pools. One loop at a time runs on a pool: a second one, from
/// another thread or from inside a part, is carried out by its caller alone. After fork() the child's copy
/// starts threads of its own when it needs them.
class ThreadPool {
 public:
  /// Spinning time of an idle thread before it sleeps.
  static constexpr int kSpinMicroseconds = 100;

  /// `threads` counts the caller; 0: as many as the process may use processors (available_cpus()).
  explicit ThreadPool(int threads = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const { return size_; }

  /// Calls body(part) for every part of [0, parts), each once, and returns when all are done. The first
  /// exception is rethrown; parts not begun by then are skipped.
  void run(int64_t parts, PartBody body);

  /// True in a part of a loop.
  static bool inside_loop();

 private:
  struct Team;

  int size_;
  std::unique_ptr<Team> team_;
};

/// For its lifetime loops of this thread (parallel_for) use `pool`; null: they run on the caller only.
class PoolScope {
 public:
  explicit PoolScope(std::shared_ptr<ThreadPool> pool);
  ~PoolScope();
  PoolScope(const PoolScope&) = delete;
  PoolScope& operator=(const PoolScope&) = delete;

  /// The pool of this thread's innermost scope; null where there is none.
  static const std::shared_ptr<ThreadPool>& current();

 private:
  std::shared_ptr<ThreadPool> pool_;
  const PoolScope* outer_;
};

}  // namespace assay
