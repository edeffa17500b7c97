// How inference runs, what happens to outputs, and how they are compared.
#pragma once

#include "cli/args.h"
#include "extension/functions.h"
#include "run/comparator.h"

namespace assay::cli {

/// Comparator Inference, Postprocessing and Comparisons, the options of each comparison function, and the
/// verdict. `modules` bring functions of their own.
void add_comparator_options(ArgParser& parser, extension::Modules modules = {});
/// Fills the parts of `options` that these groups concern; its `model` is known already. Warns about options
/// of a comparison function that is not the one in use. Throws Error for values that no run could use.
void read_comparator_options(const ParsedArgs& args, RunOptions& options, extension::Modules modules = {});

}  // namespace assay::cli
