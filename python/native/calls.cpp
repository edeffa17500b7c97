#include "calls.h"

#include <nanobind/stl/string.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "assay/error.h"
#include "assay/log.h"
#include "assay/runtime.h"
#include "assay/wording.h"
#include "convert.h"

namespace assay::python {

namespace {

// ---- interrupts ----

std::atomic<bool> was_interrupted = false;
std::atomic<ExecutionContext*> running = nullptr;
struct sigaction outer_action = {};
int scopes = 0;  // of the main thread
pthread_t main_thread;

void on_interrupt(int signal) {
  was_interrupted.store(true, std::memory_order_relaxed);
  // A store to an atomic flag.
  if (ExecutionContext* context = running.load(std::memory_order_relaxed)) context->cancel();
  outer_action.sa_handler(signal);
}

bool is_main_thread() { return ::pthread_equal(::pthread_self(), main_thread) != 0; }

// ---- the log ----

struct Messages {
  std::mutex mutex;
  std::vector<std::pair<int, std::string>> list;
  bool is_scheduled = false;
};

/// Never destroyed: threads may log until the process ends.
Messages& messages() {
  static auto* const m = new Messages;
  return *m;
}

PyObject* receiver = nullptr;
constexpr size_t kMaxMessages = 100'000;  // that wait; more would mean that no call returns to Python

// ---- the end ----

struct Runs {
  std::mutex mutex;
  std::vector<ExecutionContext*> list;
};

Runs& runs() {
  static auto* const r = new Runs;
  return *r;
}

std::atomic<bool> is_ending = false;

/// A thread that may not go on: until the process ends.
[[noreturn]] void wait_for_the_end() {
  for (;;) ::pause();
}

int drain_later(void*) {
  drain_log();
  return 0;
}

PyObject* error_maker = nullptr;

void raise(const Error& e) {
  if (error_maker == nullptr) nb::module_::import_("assay._library");  // gives it
  nb::list context;
  for (const std::string& place : e.context()) context.append(to_text(place));
  const bool cancelled = dynamic_cast<const Cancelled*>(&e) != nullptr;
  const ErrorSubject& subject = e.subject();
  nb::object made = nb::handle(error_maker)(
      cancelled ? "cancelled" : error_code_name(e.code()), to_text(e.message()), context, to_text(e.remedy()),
      to_text(e.what()), to_text(e.remedy_key()),
      nb::make_tuple(to_text(subject.file), to_text(subject.node), to_text(subject.tensor)));
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(made.ptr())), made.ptr());
}

void translate(const std::exception_ptr& p, void*) {
  try {
    std::rethrow_exception(p);
  } catch (const Error& e) {
    raise(e);
  } catch (const nb::cast_error&) {
    raise(Error(ErrorCode::kInvalidArgument,
                "an argument holds a value of a type that it cannot have, or a number beyond its range"));
  }
}

}  // namespace

InterruptScope::InterruptScope(ExecutionContext* context) {
  if (!is_main_thread()) return;
  if (scopes++ > 0) {
    installed_ = true;
    return;
  }
  installed_ = true;
  was_interrupted.store(false, std::memory_order_relaxed);
  struct sigaction ours = {};
  ::sigaction(SIGINT, nullptr, &outer_action);
  if ((outer_action.sa_flags & SA_SIGINFO) != 0 || outer_action.sa_handler == SIG_IGN ||
      outer_action.sa_handler == SIG_DFL || outer_action.sa_handler == on_interrupt)
    return;
  running.store(context, std::memory_order_relaxed);
  ours = outer_action;
  ours.sa_handler = on_interrupt;
  ours.sa_flags |= SA_ONSTACK;
  ::sigaction(SIGINT, &ours, nullptr);
}

InterruptScope::~InterruptScope() {
  if (!installed_ || --scopes > 0) return;
  running.store(nullptr, std::memory_order_relaxed);
  struct sigaction now = {};
  ::sigaction(SIGINT, nullptr, &now);
  if ((now.sa_flags & SA_SIGINFO) == 0 && now.sa_handler == on_interrupt)
    ::sigaction(SIGINT, &outer_action, nullptr);
}

bool InterruptScope::interrupted() {
  return is_main_thread() && was_interrupted.load(std::memory_order_relaxed);
}

void InterruptScope::check() {
  if (!is_main_thread()) return;
  was_interrupted.store(false, std::memory_order_relaxed);
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

void begin_calls() {
  const nb::object ident = nb::module_::import_("threading").attr("main_thread")().attr("ident");
  main_thread = static_cast<pthread_t>(nb::cast<unsigned long>(ident));
  // The thread that forks is the child's main one.
  ::pthread_atfork(
      [] {
        messages().mutex.lock();
        runs().mutex.lock();
      },
      [] {
        runs().mutex.unlock();
        messages().mutex.unlock();
      },
      [] {
        main_thread = ::pthread_self();
        runs().list.clear();  // of threads that are not there any more
        runs().mutex.unlock();
        messages().mutex.unlock();
      });
}

void collect_message(int severity, const std::string& text) {
  Messages& m = messages();
  bool schedule = false;
  {
    const std::lock_guard lock(m.mutex);
    if (m.list.size() >= kMaxMessages) return;
    m.list.emplace_back(severity, text);
    schedule = !std::exchange(m.is_scheduled, true);
  }
  if (schedule && !has_ended()) Py_AddPendingCall(drain_later, nullptr);
}

void drain_log() {
  Messages& m = messages();
  for (;;) {
    std::vector<std::pair<int, std::string>> list;
    {
      const std::lock_guard lock(m.mutex);
      m.is_scheduled = false;
      list.swap(m.list);
    }
    if (list.empty()) return;
    if (receiver == nullptr) continue;
    const nb::error_scope error_in_flight;
    for (const auto& [severity, text] : list) {
      try {
        const nb::handle emit = receiver;
        emit(severity, to_text(text));
      } catch (nb::python_error& e) {
        e.discard_as_unraisable("assay's log");
      }
    }
  }
}

void set_log_receiver(nb::object emit, int threshold) {
  Py_XDECREF(receiver);
  receiver = emit.is_none() ? nullptr : emit.release().ptr();
  set_log_sink(collect_message, receiver == nullptr ? 1000 : threshold);
}

void set_words(const nb::dict& words) {
  std::map<std::string, std::string, std::less<>> table;
  for (const auto& [key, sentence] : words)
    table.emplace(nb::cast<std::string>(key), nb::cast<std::string>(sentence));
  set_wording([table = std::move(table)](std::string_view key, std::span<const std::string> values) {
    const auto found = table.find(key);
    return found == table.end() ? std::string() : fill_wording(found->second, values);
  });
}

nb::list wording_keys() {
  nb::list keys;
  for (const WordingEntry& e : wording_entries()) keys.append(nb::str(e.key.data(), e.key.size()));
  return keys;
}

void set_error_maker(nb::object make) {
  Py_XDECREF(error_maker);
  error_maker = make.release().ptr();
}

Unlocked::~Unlocked() {
  if (is_ending.load() && !is_main_thread()) wait_for_the_end();
  PyEval_RestoreThread(state_);
}

Locked::Locked() {
  if (has_ended() && !is_main_thread()) wait_for_the_end();
  state_ = PyGILState_Ensure();
}

Running::Running(ExecutionContext& context) : context_(context) {
  const std::lock_guard lock(runs().mutex);
  if (is_ending.load()) throw Cancelled();
  runs().list.push_back(&context);
}

Running::~Running() {
  const std::lock_guard lock(runs().mutex);
  runs().list.erase(std::find(runs().list.begin(), runs().list.end(), &context_));
}

void end_calls() {
  constexpr auto kLongest = std::chrono::seconds(5);
  const auto until = std::chrono::steady_clock::now() + kLongest;
  is_ending.store(true);
  const nb::gil_scoped_release unlocked;
  while (std::chrono::steady_clock::now() < until) {
    {
      const std::lock_guard lock(runs().mutex);
      if (runs().list.empty()) return;
      for (ExecutionContext* context : runs().list) context->cancel();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

bool has_ended() { return is_ending.load() || !nb::is_alive(); }

void register_errors() { nb::register_exception_translator(translate, nullptr); }

}  // namespace assay::python
