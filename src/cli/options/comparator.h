// Options of inference, post-processing and comparison.
#pragma once

#include "assay/run.h"
#include "cli/args.h"
#include "extension/functions.h"
#include "extension/registries.h"
#include "run/model_loader.h"

namespace assay::cli {

/// Comparator Inference, Postprocessing and Comparisons, the options of each comparison function, and the
/// verdict. `modules` bring functions of their own.
void add_comparator_options(ArgParser& parser, extension::Modules modules = {});

/// The part of a run. The model must be read already: options may name its outputs by operators. Warns about
/// options of a comparison function that is not the one in use. Throws Error.
void read_comparison_settings(const ParsedArgs& args, const ModelLoaderOptions& model,
                              const extension::Registries& registries, poly::RunSettings& settings);

}  // namespace assay::cli
