// What commands need that look at a model layer by layer: the model, what runs it, and the data.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/options/data_loader.h"
#include "cli/options/model.h"
#include "debug/layer_run.h"

namespace assay::cli {

void add_layer_options(ArgParser& parser, const Registries& registries);
/// --json.
Option layer_json_option();

struct LayerOptions {
  ModelOptions model;
  ModelLoaderOptions loading;
  std::vector<RunnerChoice> runners;  ///< those of the line; the reference where there are none
  SessionOptions session;
  DataOptions data;

  std::shared_ptr<DataSource> make_data() const { return calibration_data(data)(); }
};
/// `precision`: of the reference, unless the line says it. Throws Error.
LayerOptions read_layer_options(const CommandContext& context, ReferencePrecision precision);
/// The reference as a runner.
RunnerChoice reference_runner(const CommandContext& context);

/// Loads it, and says so. `outputs` receives the names of its own outputs.
std::shared_ptr<Model> load_layers(const ModelLoaderOptions& loading, std::vector<std::string>& outputs);
/// Writes a text to a file, and says so.
void save_text(const std::string& what, const std::string& text, const std::string& path);

}  // namespace assay::cli
