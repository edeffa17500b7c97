// How inference runs, what happens to outputs, and how they are compared.
#pragma once

#include "cli/args.h"
#include "extension/functions.h"

namespace assay::cli {

/// Comparator Inference, Postprocessing and Comparisons, the options of each comparison function, and the
/// verdict (read_comparison_settings() reads them). `modules` bring functions of their own.
void add_comparator_options(ArgParser& parser, extension::Modules modules = {});

}  // namespace assay::cli
