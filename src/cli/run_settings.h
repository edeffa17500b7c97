// From a command line to poly::RunSettings, by the table of poly/run_table.h. Other commands read the parts
// that they share with `run`.
#pragma once

#include <string>
#include <vector>

#include "cli/args.h"
#include "cli/options/model.h"
#include "cli/registries.h"
#include "engine/tactics/tactic_set.h"
#include "poly/run_parts.h"
#include "poly/run_table.h"

namespace assay::cli {

/// Sets the members of a part whose words are those of their types (RunWords), as far as the command has
/// their options and they are given. Throws Error naming the option.
void read_run_part(const ParsedArgs& args, poly::RunPart part, poly::RunSettings& settings);

/// One part each, with the options whose words mean something of their own. They throw Error.
void read_log_settings(const ParsedArgs& args, poly::RunSettings& settings);
/// `given`: what read_model_options() made of the line.
void read_model_settings(const ParsedArgs& args, const ModelOptions& given, poly::RunSettings& settings);
void read_data_settings(const ParsedArgs& args, poly::RunSettings& settings);
void read_session_settings(const ParsedArgs& args, poly::RunSettings& settings);
/// Says in a line each which of the given options do nothing on a CPU. `tactics`: those that options may
/// name.
void read_engine_settings(const ParsedArgs& args, bool as_upstream, const engine::TacticSet& tactics,
                          poly::RunSettings& settings);
/// The model must be read already: options may name its outputs by operators. Warns about options of a
/// comparison function that is not the one in use.
void read_comparison_settings(const ParsedArgs& args, const ModelLoaderOptions& model,
                              const extension::Registries& registries, poly::RunSettings& settings);

/// All of `run`.
poly::RunSettings read_run_settings(const ParsedArgs& args, bool as_upstream, const Registries& registries,
                                    const poly::ModelEdits& edits);

}  // namespace assay::cli
