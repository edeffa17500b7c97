// Two runs of a network, layer by layer, for commands that compare them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/options/layers.h"
#include "debug/divergence.h"
#include "debug/layer_run.h"
#include "debug/sequence_divergence.h"
#include "run/results.h"

namespace assay::cli {

/// --atol, --rtol.
void add_tolerance_options(ArgParser& parser);
/// Throws Error for what is no tolerance.
debug::LayerTolerance read_tolerance(const ParsedArgs& args);

/// One of the two that are compared.
struct LayerSide {
  std::string name;
  std::shared_ptr<const Model> model;
  std::vector<std::string> outputs;         ///< of the model by itself
  std::unique_ptr<debug::LayerRun> layers;  ///< null: they are saved
  std::vector<IterationResult> saved;
};

/// Runs the model of the file in this process.
LayerSide live_side(const LayerOptions& options, const std::string& path, const RunnerChoice& runner);
/// Results of all layers from a file.
LayerSide saved_side(const std::string& path, const std::shared_ptr<const Model>& model);

/// Compares the two on all data; `inputs` are those of either. Throws Error where there is nothing to
/// compare.
debug::DivergenceReport compare_sides(LayerSide& first, LayerSide& second, debug::DivergenceOptions how,
                                      const LayerOptions& options);

/// As lines.
std::string divergence_text(const debug::DivergenceReport& report);
std::string sequence_divergence_text(const debug::SequenceDivergence& found);

}  // namespace assay::cli
