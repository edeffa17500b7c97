// Options of inference, post-processing and comparison.
#pragma once

#include "cli/args.h"
#include "extension/functions.h"

namespace assay::cli {

/// Comparator Inference, Postprocessing and Comparisons, the options of each comparison function, and the
/// verdict (read_comparison_settings() reads them). `modules` add functions.
void add_comparator_options(ArgParser& parser, extension::Modules modules = {});

}  // namespace assay::cli
