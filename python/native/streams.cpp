// Asynchronous work: streams, events, recordings.
#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>

#include <chrono>
#include <memory>
#include <thread>

#include "assay/runtime.h"
#include "calls.h"
#include "convert.h"
#include "parts.h"

namespace assay::python {
namespace {

using Clock = std::chrono::steady_clock;

/// Waits without the lock until ready() says so; an interrupt ends the waiting.
template <typename Ready>
void wait_for(Ready ready) {
  const InterruptScope interrupts;
  auto pause = std::chrono::microseconds(5);
  while (!ready()) {
    without_lock([&] { std::this_thread::sleep_for(pause); });
    pause = std::min(pause * 2, std::chrono::microseconds(2000));
    InterruptScope::check();
  }
}

/// A stream whose end is waited for without the lock, which its work may want.
struct OwnStream {
  std::unique_ptr<Stream> stream = std::make_unique<Stream>();
  OwnStream() = default;
  ~OwnStream() {
    const Unlocked unlocked;
    stream = nullptr;
  }
  OwnStream(const OwnStream&) = delete;
  OwnStream& operator=(const OwnStream&) = delete;
};

void synchronize(OwnStream& s) {
  wait_for([&] { return s.stream->query(); });
  without_lock([&] { s.stream->synchronize(); });
}

/// A context, or a function of Python's, that the stream keeps alive until it is done.
void enqueue(OwnStream& s, nb::handle work) {
  Stream& stream = *s.stream;
  const std::shared_ptr<const void> kept = keep(work);
  Context* context = nullptr;
  if (nb::try_cast(work, context)) {
    ExecutionContext* run = context->context.get();
    stream.enqueue([kept, run] {
      const Running running(*run);
      run->execute();
    });
    return;
  }
  if (PyCallable_Check(work.ptr()) == 0)
    fail(ErrorCode::kInvalidArgument, "a stream takes contexts and functions");
  stream.enqueue([kept, work] {
    if (has_ended()) return;
    const Locked lock;
    work();
  });
}

}  // namespace

void bind_streams(nb::module_& m) {
  nb::class_<Recording>(m, "Recording")
      .def("launch", [](const Recording& r, OwnStream& s) { r.launch(*s.stream); })
      .def("__len__", &Recording::size);
  nb::class_<OwnStream>(m, "Stream")
      .def(nb::init<>())
      .def("enqueue", &enqueue, nb::arg("work"))
      .def("synchronize", &synchronize)
      .def("query", [](const OwnStream& s) { return s.stream->query(); })
      .def("begin_capture", [](OwnStream& s) { s.stream->begin_capture(); })
      .def("end_capture", [](OwnStream& s) { return s.stream->end_capture(); });
  nb::class_<Event>(m, "Event")
      .def(nb::init<>())
      .def("record", [](Event& e, OwnStream& s) { e.record(*s.stream); })
      .def("wait", [](const Event& e, OwnStream& s) { e.wait(*s.stream); })
      .def("synchronize", [](const Event& e) { wait_for([&] { return e.query(); }); })
      .def("query", &Event::query)
      .def_static("elapsed_milliseconds", &Event::elapsed_milliseconds);
}

}  // namespace assay::python
