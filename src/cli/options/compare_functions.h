// The comparison functions and their options.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "assay/comparator.h"
#include "cli/args.h"
#include "cli/options/output_names.h"
#include "extension/functions.h"

namespace assay::cli {

/// The option --compare, with the functions of modules among its choices.
Option compare_option(extension::Modules modules = {});
/// Its built-in choices.
const std::vector<std::string>& comparison_choices();
/// The option --no-shape-check.
Option shape_check_option();
/// A group for each function: simple, indices, l2, cosine_similarity, psnr, snr, perceptual_metrics.
void add_compare_function_options(ArgParser& parser);

/// The functions that --compare names, each once, in order, and the names of modules' functions.
struct ComparisonsOfLine {
  std::vector<poly::CompareFunc> functions;
  std::vector<std::string> of_modules;
};
/// Warns about options of the other functions. Throws
/// Error for invalid values, and as `outputs` does.
ComparisonsOfLine read_comparisons(const ParsedArgs& args, OutputNames& outputs,
                                   extension::Modules modules = {});
/// The option for the threshold of a function with one number.
const char* threshold_option(std::string_view function);
/// True when any option configures the comparison of outputs.
bool chooses_comparison(const ParsedArgs& args);

}  // namespace assay::cli
