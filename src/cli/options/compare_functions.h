// The comparison functions and their options.
#pragma once

#include <memory>

#include "cli/args.h"
#include "cli/options/output_names.h"
#include "compare/outputs.h"

namespace assay::cli {

/// Comparison Function: simple.
void add_simple_compare_options(ArgParser& parser);
/// Comparison Function: indices.
void add_indices_compare_options(ArgParser& parser);

/// The function that --compare and --fail-fast ask for. Warns about options of the other ones. Throws Error
/// for values that it cannot use, and as `outputs` does.
std::shared_ptr<const Comparison> read_comparison(const ParsedArgs& args, OutputNames& outputs);

}  // namespace assay::cli
