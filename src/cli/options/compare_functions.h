// The comparison functions and their options.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/args.h"
#include "cli/options/output_names.h"
#include "compare/comparison.h"
#include "compare/pictures.h"
#include "extension/functions.h"

namespace assay::cli {

/// The option --compare, with the functions of modules among its choices.
Option compare_option(extension::Modules modules = {});
/// What it can name without any module.
const std::vector<std::string>& comparison_choices();
/// The option --no-shape-check.
Option shape_check_option();
/// A group for each function: simple, indices, l2, cosine_similarity, psnr, snr, perceptual_metrics.
void add_compare_function_options(ArgParser& parser);

/// The functions that --compare names, each once, in its order, those of modules last. Warns about options of
/// the other ones. Throws Error for values that none of them can use, and as `outputs` does.
std::vector<std::shared_ptr<const Comparison>> read_comparisons(const ParsedArgs& args, OutputNames& outputs,
                                                                extension::Modules modules = {});
/// Whether any option says how outputs are compared.
bool chooses_comparison(const ParsedArgs& args);

/// The pictures of `simple`; null when none are asked for.
std::shared_ptr<ErrorPictures> read_error_pictures(const ParsedArgs& args);

}  // namespace assay::cli
