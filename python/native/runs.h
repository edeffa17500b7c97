// What other parts take from a run: runners in Python, data.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "assay/run_settings.h"

namespace assay::python {

namespace nb = nanobind;

/// A session of an object whose infer(feed) returns a dict of outputs, which are the model's.
std::unique_ptr<Session> python_session(nb::handle runner, const Model& model);
/// From a dict of a run's settings that concern data. Throws Error (kInvalidArgument) for unknown keys.
poly::RunData read_run_data(nb::handle settings);

}  // namespace assay::python
