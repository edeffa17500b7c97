// Comparison functions and their results between Python and the library.
#pragma once

#include <nanobind/nanobind.h>

#include <vector>

#include "assay/arbiter.h"
#include "assay/comparator.h"

namespace assay::python {

namespace nb = nanobind;

/// A list of dicts: `kind` and that function's options; None: the default function.
std::vector<poly::CompareFunc> compare_funcs(nb::handle functions);
nb::list accuracy_list(const poly::AccuracyResult& accuracy);
nb::dict arbitration_dict(const Arbitration& arbitration);

}  // namespace assay::python
