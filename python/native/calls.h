// Calls into the library: the interpreter's lock, interrupts, the log.
#pragma once

#include <nanobind/nanobind.h>

#include <functional>
#include <string>
#include <type_traits>
#include <utility>

namespace assay {
class ExecutionContext;
}

namespace assay::python {

namespace nb = nanobind;

/// While it lives in Python's main thread, Ctrl-C is noticed at once: interrupted() says so, and the run of
/// `context` ends. Nothing happens in other threads, and where Ctrl-C is ignored or ends the process.
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
/// `emit(severity, text)` gets the messages; None: nobody does.
void set_log_receiver(nb::object emit, int threshold);

/// Runs body without the lock.
template <typename Body>
auto without_lock(Body&& body) {
  struct Drain {
    ~Drain() { drain_log(); }
  } drain;
  nb::gil_scoped_release release;
  return std::forward<Body>(body)();
}

/// Makes assay::Error an exception of Python's, made by `make(code, message, context, remedy, text)`.
void set_error_maker(nb::object make);
void register_errors();

}  // namespace assay::python
