// The parts of the module, each in a file of its own.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string>

#include "assay/builder.h"
#include "assay/graph.h"
#include "assay/run_settings.h"
#include "assay/runtime.h"

namespace assay::python {

namespace nb = nanobind;

void bind_models(nb::module_& m);  ///< models.cpp, inspection.cpp
void bind_inspection(nb::module_& m, nb::class_<Model>& model);
void bind_engines(nb::module_& m);      ///< engines.cpp
void bind_streams(nb::module_& m);      ///< streams.cpp
void bind_sessions(nb::module_& m);     ///< sessions.cpp
void bind_comparing(nb::module_& m);    ///< comparing.cpp
void bind_runs(nb::module_& m);         ///< runs.cpp
void bind_evaluations(nb::module_& m);  ///< evaluations.cpp
void bind_generating(nb::module_& m);   ///< generating.cpp
void bind_quantizing(nb::module_& m);   ///< quantizing.cpp
void bind_debugging(nb::module_& m);    ///< debugging.cpp

/// A context as Python holds it: what is bound to it stays alive.
struct Context {
  explicit Context(std::shared_ptr<Engine> of);
  std::shared_ptr<Engine> engine;
  std::unique_ptr<ExecutionContext> context;
  nb::list input_names, output_names;
  nb::dict bound;       ///< objects whose memory is bound, by name
  nb::object profiler;  ///< called with names and milliseconds
  std::unique_ptr<Profiler> profiler_bridge;
  bool is_running = false;  ///< written with the lock
};

/// A configuration from a dict; it keeps the Python objects that it refers to. Throws Error
/// (kInvalidArgument) for unknown keys.
struct BuildSettings {
  BuilderConfig config;
  std::unique_ptr<AlgorithmSelector> selector;
};
BuildSettings read_build_settings(nb::handle settings);
/// By its name. Throws Error (kInvalidArgument) that lists the names.
CalibrationAlgorithm calibration_algorithm(const std::string& name);

/// The options of a session whose warnings go to the log.
SessionOptions session_options(int threads, bool stored_types);

/// A run from a dict; `build` keeps what its configuration refers to. Throws Error (kInvalidArgument) for
/// unknown keys.
struct RunReading {
  poly::RunSettings settings;
  BuildSettings build;
  std::string save_settings;
};
RunReading read_run(nb::handle settings);

}  // namespace assay::python
