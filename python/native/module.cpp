// The module assay._native: the library's public C++ interface for the package around it, which users see.
#include <nanobind/nanobind.h>

#include "assay/version.h"
#include "calls.h"
#include "parts.h"

namespace nb = nanobind;

NB_MODULE(_native, m) {
  using namespace assay::python;
  m.attr("__version__") = assay::library_version();
  nb::set_leak_warnings(false);        // objects in a user's globals at exit are not leaks
  set_log_receiver(nb::none(), 1000);  // nothing is printed when this is imported alone
  begin_calls();
  register_errors();
  m.def("set_error_maker", &set_error_maker, nb::arg("make"));
  m.def("set_words", &set_words, nb::arg("words"));
  m.def("wording_keys", &wording_keys);
  m.def("set_log_receiver", &set_log_receiver, nb::arg("emit").none(), nb::arg("threshold"));
  m.def("drain_log", &drain_log);
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(&end_calls));
  bind_models(m);
  bind_engines(m);
  bind_streams(m);
  bind_sessions(m);
  bind_comparing(m);
  bind_runs(m);
  bind_generating(m);
  bind_quantizing(m);
  bind_debugging(m);
  bind_evaluations(m);
}
