// From a command line to poly::RunSettings, by the table of poly/run_table.h. Other commands use the parts
// that they share with `run`.
#pragma once

#include "assay/run_settings.h"
#include "cli/args.h"
#include "cli/registries.h"
#include "poly/run_parts.h"

namespace assay::cli {

/// Sets those members of a part that are parsed by type (RunWords), if the command has their options and they
/// are given. Throws Error naming the option.
void read_run_part(const ParsedArgs& args, poly::RunPart part, poly::RunSettings& settings);

/// Read one part each, including options with a special syntax. They throw Error.
void read_log_settings(const ParsedArgs& args, poly::RunSettings& settings);
/// `given`: the result of read_model_options().
void read_model_settings(const ParsedArgs& args, const ModelOptions& given, poly::RunSettings& settings);
void read_data_settings(const ParsedArgs& args, poly::RunSettings& settings);
void read_session_settings(const ParsedArgs& args, poly::RunSettings& settings);
/// Logs a line for each given option that has no effect
/// on a CPU. `tactics`: those that options may name.
void read_engine_settings(const ParsedArgs& args, bool as_upstream, const engine::TacticSet& tactics,
                          poly::RunSettings& settings);
/// The model must have been read: options may name its outputs by operators. Warns about options of a
/// comparison function that is not the one in use.
void read_comparison_settings(const ParsedArgs& args, const ModelLoaderOptions& model,
                              const extension::Registries& registries, poly::RunSettings& settings);

/// Reads all of `run`.
poly::RunSettings read_run_settings(const ParsedArgs& args, bool as_upstream, const Registries& registries,
                                    const poly::ModelEdits& edits);

}  // namespace assay::cli
