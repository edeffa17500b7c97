// Calls into the library: the interpreter's lock, interrupts, the log.
#pragma once

#include <nanobind/nanobind.h>

#include <exception>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>

#include "assay/interrupt.h"

namespace assay {
class ExecutionContext;
}

namespace assay::python {

namespace nb = nanobind;

/// While it lives in Python's main thread, Ctrl-C is noticed immediately: interrupted() says so, and the run
/// of `context` ends. Nothing happens in other threads, and where Ctrl-C is ignored or ends the process.
class InterruptScope {
 public:
  explicit InterruptScope(ExecutionContext* context = nullptr);
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

  static bool interrupted();
  /// With the lock: runs Python's signal handlers; throws what they raise.
  static void check();

 private:
  bool installed_ = false;
};

/// Remembers which thread is Python's main one.
void begin_calls();

/// Hands collected messages to Python's logging. With the lock.
void drain_log();
/// From any thread, without or with the lock; the message is handed over later.
void collect_message(int severity, const std::string& text);
/// `emit(severity, text)` gets the messages; None: they are dropped.
void set_log_receiver(nb::object emit, int threshold);

/// Gives the lock away. Where the interpreter ends meanwhile, a thread other than the main one does not come
/// back: it waits for the end of the process, as a thread that wants the lock does from Python 3.14 on.
/// (Before, it would be unwound through C++ code that knows nothing of that.)
class Unlocked {
 public:
  Unlocked() : state_(PyEval_SaveThread()) {}
  ~Unlocked();
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  PyThreadState* state_;
};

/// For callbacks in whatever thread: the lock, as Unlocked takes it.
class Locked {
 public:
  Locked();
  ~Locked() { PyGILState_Release(state_); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  PyGILState_STATE state_;
};

/// A run that end_calls() may end. Throws Cancelled where it came before.
class Running {
 public:
  explicit Running(ExecutionContext& context);
  ~Running();
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  ExecutionContext& context_;
};

/// Called when the interpreter begins to end: runs of other threads and of streams end, and are waited for,
/// so that what they use may go.
void end_calls();
/// end_calls() has been called, or there is no interpreter any more: nothing of Python's may be touched.
bool has_ended();

/// Runs body without the lock.
template <typename Body>
auto without_lock(Body&& body) {
  struct Drain {
    ~Drain() { drain_log(); }
  } drain;
  const Unlocked unlocked;
  return std::forward<Body>(body)();
}

/// The same with work that an InterruptHook ends: Ctrl-C does, unless its handler says that work goes on.
template <typename Body>
auto interruptible(Body&& body) {
  const InterruptScope interrupts;
  std::exception_ptr raised;
  const InterruptHook hook([&] {
    if (raised == nullptr && InterruptScope::interrupted()) {
      const Locked lock;
      try {
        InterruptScope::check();
      } catch (...) {
        raised = std::current_exception();
      }
    }
    return raised != nullptr;
  });
  try {
    auto result = without_lock(std::forward<Body>(body));
    if (raised == nullptr) return result;
  } catch (...) {
    if (raised == nullptr) throw;
  }
  std::rethrow_exception(raised);
}

/// Makes assay::Error an exception of Python's, made by `make(code, message, context, remedy, text, key,
/// (file, node, tensor))`.
void set_error_maker(nb::object make);
/// The sentences of the package for keys of remedies, with {0}, {1}, ... for values.
void set_words(const nb::dict& words);
/// Every key that the library has.
nb::list wording_keys();
void register_errors();

}  // namespace assay::python
