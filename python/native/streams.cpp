// Work beside the caller: streams, events, recordings.
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

void synchronize(Stream& stream) {
  wait_for([&] { return stream.query(); });
  without_lock([&] { stream.synchronize(); });
}

/// A context, or a function of Python's, that the stream keeps alive until it is done.
void enqueue(Stream& stream, nb::handle work) {
  const std::shared_ptr<const void> kept = keep(work);
  Context* context = nullptr;
  if (nb::try_cast(work, context)) {
    ExecutionContext* run = context->context.get();
    stream.enqueue([kept, run] { run->execute(); });
    return;
  }
  if (PyCallable_Check(work.ptr()) == 0)
    fail(ErrorCode::kInvalidArgument, "a stream takes contexts and functions");
  stream.enqueue([kept, work] {
    if (!nb::is_alive()) return;
    const nb::gil_scoped_acquire lock;
    work();
  });
}

}  // namespace

void bind_streams(nb::module_& m) {
  nb::class_<Recording>(m, "Recording")
      .def("launch", [](const Recording& r, Stream& stream) { r.launch(stream); })
      .def("__len__", &Recording::size);
  nb::class_<Stream>(m, "Stream")
      .def("__init__", [](Stream* self) { new (self) Stream(); })
      .def("enqueue", &enqueue, nb::arg("work"))
      .def("synchronize", &synchronize)
      .def("query", &Stream::query)
      .def("begin_capture", &Stream::begin_capture)
      .def("end_capture", &Stream::end_capture);
  nb::class_<Event>(m, "Event")
      .def(nb::init<>())
      .def("record", &Event::record)
      .def("wait", &Event::wait)
      .def("synchronize", [](const Event& e) { wait_for([&] { return e.query(); }); })
      .def("query", &Event::query)
      .def_static("elapsed_milliseconds", &Event::elapsed_milliseconds);
}

}  // namespace assay::python
