#include "base/thread_pool.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <system_error>
#include <utility>

#include "base/architecture.h"
#include "base/cpus.h"
#include "base/time_trace.h"

namespace assay {
namespace {

thread_local const PoolScope* innermost_scope = nullptr;
thread_local bool in_loop = false;

void sleep_while(const std::atomic<uint32_t>& word, uint32_t value) {
  ::syscall(SYS_futex, reinterpret_cast<const uint32_t*>(&word), FUTEX_WAIT_PRIVATE, value, nullptr, nullptr,
            0);
}

void wake(const std::atomic<uint32_t>& word, int count) {
  ::syscall(SYS_futex, reinterpret_cast<const uint32_t*>(&word), FUTEX_WAKE_PRIVATE, count, nullptr, nullptr,
            0);
}

/// Calls `done` until it returns true or the spinning time is over; returns its last result.
template <typename Done>
bool spin_until(Done done) {
  constexpr int kPausesPerLook = 32;  // at the clock
  if (done()) return true;
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::microseconds(ThreadPool::kSpinMicroseconds);
  do {
    for (int i = 0; i < kPausesPerLook; ++i) {
      pause_briefly();
      if (done()) return true;
    }
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

/// The number of forks of this process: threads of the parent no longer exist.
std::atomic<uint32_t>& fork_count() {
  static std::atomic<uint32_t> count = [] {
    ::pthread_atfork(nullptr, nullptr, [] { fork_count().fetch_add(1, std::memory_order_relaxed); });
    return 0U;
  }();
  return count;
}

}  // namespace

/// State shared by the threads of a pool. A loop has a number; it is published by one word, the ticket, with
/// the number, the count of parts, and the next part to take. A part is taken
/// by adding one to the ticket with a compare-and-swap, which fails when the loop has ended meanwhile.
struct ThreadPool::Team {
  static constexpr int64_t kMaxParts = 0xffff;
  static uint64_t ticket_of(uint32_t loop, uint64_t parts) { return uint64_t{loop} << 32 | parts << 16; }
  static uint32_t loop_of(uint64_t ticket) { return static_cast<uint32_t>(ticket >> 32); }
  static uint64_t parts_of(uint64_t ticket) { return ticket >> 16 & 0xffff; }
  static uint64_t next_of(uint64_t ticket) { return ticket & 0xffff; }

  Team() : forks(fork_count().load(std::memory_order_relaxed)) {}

  alignas(64) std::atomic<uint64_t> ticket{0};
  std::atomic<const PartBody*> body{nullptr};
  std::atomic<uint32_t> loop{0};              // number of the last loop: idle threads sleep on it
  alignas(64) std::atomic<uint32_t> done{0};  // completed parts of this loop: the caller sleeps on it
  std::atomic<bool> caller_sleeps{false};
  std::atomic<int> sleeping{0};
  alignas(64) std::atomic<bool> busy{false};
  std::atomic<bool> ending{false};
  std::atomic<bool> failed{false};
  std::exception_ptr failure;
  std::vector<std::thread> threads;
  uint32_t forks;

  /// Takes parts of the current loop until none is left.
  void work() noexcept {
    uint64_t t = ticket.load(std::memory_order_acquire);
    std::optional<trace::Span> span;
    if (trace::is_on() && next_of(t) < parts_of(t)) span.emplace(trace::Kind::kLoop, "parts of a loop");
    while (next_of(t) < parts_of(t)) {
      // Read before the part is taken, while the loop is certainly still the same.
      const PartBody* const what = body.load(std::memory_order_relaxed);
      if (!ticket.compare_exchange_weak(t, t + 1, std::memory_order_acq_rel, std::memory_order_acquire))
        continue;
      if (!failed.load(std::memory_order_relaxed)) carry_out(*what, static_cast<int64_t>(next_of(t)));
      const uint32_t finished = done.fetch_add(1, std::memory_order_seq_cst) + 1;
      if (finished == parts_of(t) && caller_sleeps.load(std::memory_order_seq_cst)) wake(done, 1);
      t = ticket.load(std::memory_order_acquire);
    }
  }

  void carry_out(const PartBody& what, int64_t part) noexcept {
    in_loop = true;
    try {
      what(part);
    } catch (...) {
      if (!failed.exchange(true)) failure = std::current_exception();
    }
    in_loop = false;
  }

  void thread_main() noexcept {
    trace::name_thread("pool");
    uint32_t seen = 0;
    while (!ending.load(std::memory_order_acquire)) {
      const auto has_news = [&] { return loop.load(std::memory_order_seq_cst) != seen; };
      if (!spin_until(has_news)) {
        sleeping.fetch_add(1, std::memory_order_seq_cst);
        while (!has_news()) sleep_while(loop, seen);
        sleeping.fetch_sub(1, std::memory_order_relaxed);
      }
      seen = loop.load(std::memory_order_acquire);
      work();
    }
  }

  void start(int count) {
    for (int i = 0; i < count; ++i) {
      try {
        threads.emplace_back([this] { thread_main(); });
      } catch (const std::system_error&) {
        return;  // the system has no more threads: the existing ones do the work
      }
    }
  }

  /// Publishes a new number: of a loop, or of the end.
  void announce(uint32_t number) {
    loop.store(number, std::memory_order_seq_cst);
    if (sleeping.load(std::memory_order_seq_cst) > 0) wake(loop, static_cast<int>(threads.size()));
  }

  void wait_for(uint32_t parts) {
    const auto is_done = [&] { return done.load(std::memory_order_seq_cst) == parts; };
    if (is_done()) return;
    const trace::Span span(trace::Kind::kWait, "waits for the other threads");
    if (spin_until(is_done)) return;
    caller_sleeps.store(true, std::memory_order_seq_cst);
    for (uint32_t now; (now = done.load(std::memory_order_seq_cst)) != parts;) sleep_while(done, now);
    caller_sleeps.store(false, std::memory_order_relaxed);
  }
};

ThreadPool::ThreadPool(int threads) : size_(threads > 0 ? threads : available_cpus()) {
  if (size_ > 1) team_ = std::make_unique<Team>();
}

ThreadPool::~ThreadPool() {
  if (team_ == nullptr) return;
  if (team_->forks != fork_count().load(std::memory_order_relaxed)) {
    (void)team_.release();  // its threads live in the parent only, and cannot be joined here
    return;
  }
  team_->ending.store(true, std::memory_order_release);
  team_->announce(team_->loop.load(std::memory_order_relaxed) + 1);
  for (std::thread& t : team_->threads) t.join();
}

bool ThreadPool::inside_loop() { return in_loop; }

void ThreadPool::run(int64_t parts, PartBody body) {
  const auto alone = [&] {
    for (int64_t i = 0; i < parts; ++i) body(i);
  };
  if (parts <= 1 || team_ == nullptr || in_loop) return alone();
  if (team_->forks != fork_count().load(std::memory_order_relaxed)) {
    (void)team_.release();
    team_ = std::make_unique<Team>();
  }
  Team& team = *team_;
  if (team.busy.exchange(true, std::memory_order_acquire)) return alone();
  if (team.threads.empty()) team.start(size_ - 1);
  if (team.threads.empty()) {
    team.busy.store(false, std::memory_order_release);
    return alone();
  }
  team.failed.store(false, std::memory_order_relaxed);
  for (int64_t first = 0; first < parts; first += Team::kMaxParts) {
    const int64_t count = std::min(parts - first, Team::kMaxParts);
    const auto shifted = [&](int64_t part) { body(first + part); };
    const PartBody what(shifted);
    team.done.store(0, std::memory_order_relaxed);
    team.body.store(&what, std::memory_order_relaxed);
    const uint32_t number = team.loop.load(std::memory_order_relaxed) + 1;
    team.ticket.store(Team::ticket_of(number, static_cast<uint64_t>(count)), std::memory_order_release);
    team.announce(number);
    team.work();
    team.wait_for(static_cast<uint32_t>(count));
  }
  std::exception_ptr failure;
  if (team.failed.load(std::memory_order_relaxed)) failure = std::exchange(team.failure, nullptr);
  team.busy.store(false, std::memory_order_release);
  if (failure) std::rethrow_exception(failure);
}

PoolScope::PoolScope(std::shared_ptr<ThreadPool> pool)
    : pool_(std::move(pool)), outer_(std::exchange(innermost_scope, this)) {}
PoolScope::~PoolScope() { innermost_scope = outer_; }

const std::shared_ptr<ThreadPool>& PoolScope::current() {
  static const std::shared_ptr<ThreadPool> none;
  return innermost_scope != nullptr ? innermost_scope->pool_ : none;
}

}  // namespace assay
