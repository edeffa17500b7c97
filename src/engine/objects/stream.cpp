#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "assay/runtime.h"
#include "base/time_trace.h"

namespace assay {

struct Stream::State {
  struct Item {
    std::function<void()> work;
    bool is_mark;  ///< carried out after a failure, too: others wait for it
  };
  mutable std::mutex mutex;
  std::condition_variable changed;
  std::deque<Item> open;
  bool busy = false, ends = false;
  std::exception_ptr failure;
  std::optional<std::vector<std::function<void()>>> capture;
  std::thread worker;

  void work() {
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [&] { return ends || !open.empty(); });
      if (open.empty()) return;
      Item next = std::move(open.front());
      open.pop_front();
      if (!failure || next.is_mark) {
        busy = true;
        lock.unlock();
        std::exception_ptr thrown;
        try {
          next.work();
        } catch (...) {
          thrown = std::current_exception();
        }
        next.work = nullptr;
        lock.lock();
        busy = false;
        if (thrown) failure = thrown;
      }
      if (open.empty()) changed.notify_all();
    }
  }

  void append(std::function<void()> work, bool is_mark) {
    {
      const std::lock_guard lock(mutex);
      if (capture) {
        capture->push_back(std::move(work));
        return;
      }
      open.push_back({std::move(work), is_mark});
    }
    changed.notify_all();
  }
};

Stream::Stream() : state_(std::make_unique<State>()) {
  state_->worker = std::thread([state = state_.get()] {
    trace::name_thread("stream");
    state->work();
  });
}

Stream::~Stream() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->ends = true;
  }
  state_->changed.notify_all();
  state_->worker.join();
}

void Stream::enqueue(std::function<void()> work) { state_->append(std::move(work), false); }

void Stream::synchronize() {
  const trace::Span span(trace::Kind::kWait, "waits for a stream");
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [&] { return state_->open.empty() && !state_->busy; });
  if (const std::exception_ptr failure = std::exchange(state_->failure, nullptr))
    std::rethrow_exception(failure);
}

bool Stream::query() const {
  const std::lock_guard lock(state_->mutex);
  return state_->open.empty() && !state_->busy;
}

void Stream::begin_capture() {
  const std::lock_guard lock(state_->mutex);
  require(!state_->capture, ErrorCode::kInvalidArgument, "the stream is being captured already");
  state_->capture.emplace();
}

Recording Stream::end_capture() {
  const std::lock_guard lock(state_->mutex);
  require(state_->capture.has_value(), ErrorCode::kInvalidArgument, "the stream is not being captured");
  Recording recording;
  recording.work_ = std::move(*state_->capture);
  state_->capture.reset();
  return recording;
}

void Recording::launch(Stream& stream) const {
  for (const auto& work : work_) stream.enqueue(work);
}

struct Event::State {
  std::mutex mutex;
  std::condition_variable passed;
  bool is_recorded = false;
  std::optional<std::chrono::steady_clock::time_point> at;
};

Event::Event() : state_(std::make_shared<State>()) {}
Event::~Event() = default;

void Event::record(Stream& stream) {
  {
    const std::lock_guard lock(state_->mutex);
    state_->is_recorded = true;
    state_->at.reset();
  }
  stream.state_->append(
      [state = state_] {
        {
          const std::lock_guard lock(state->mutex);
          state->at = std::chrono::steady_clock::now();
        }
        state->passed.notify_all();
      },
      true);
}

void Event::synchronize() const {
  std::unique_lock lock(state_->mutex);
  state_->passed.wait(lock, [&] { return !state_->is_recorded || state_->at.has_value(); });
}

void Event::wait(Stream& stream) const {
  stream.enqueue([state = state_] {
    std::unique_lock lock(state->mutex);
    state->passed.wait(lock, [&] { return !state->is_recorded || state->at.has_value(); });
  });
}

bool Event::query() const {
  const std::lock_guard lock(state_->mutex);
  return !state_->is_recorded || state_->at.has_value();
}

double Event::elapsed_milliseconds(const Event& first, const Event& last) {
  const auto moment = [](const Event& e) {
    const std::lock_guard lock(e.state_->mutex);
    require(e.state_->at.has_value(), ErrorCode::kInvalidArgument, "an event has not been passed");
    return *e.state_->at;
  };
  return std::chrono::duration<double, std::milli>(moment(last) - moment(first)).count();
}

}  // namespace assay
