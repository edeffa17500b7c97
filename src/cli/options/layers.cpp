#include "cli/options/layers.h"

#include "base/atomic_file.h"
#include "base/log.h"
#include "cli/options/logging.h"
#include "cli/options/onnx_model.h"
#include "cli/options/runners.h"
#include "cli/registries.h"
#include "cli/run_settings.h"

namespace assay::cli {

void add_layer_options(ArgParser& parser, const Registries& registries) {
  add_logging_options(parser);
  add_runner_options(parser, registries.backends);
  add_model_options(parser, /*is_required=*/true);
  add_onnx_shape_inference_options(parser);
  add_onnx_load_options(parser, /*can_change_outputs=*/false);
  add_data_loader_options(parser);
}

Option layer_json_option() {
  return {.names = {"--json"}, .help = "Also write what was found to this file.", .metavar = "FILE"};
}

LayerOptions read_layer_options(const CommandContext& context, ReferencePrecision precision) {
  const ParsedArgs& args = context.args();
  const Registries& registries = context.registries();
  LayerOptions options;
  poly::RunSettings settings;
  settings.session.reference_precision = precision;
  read_session_settings(args, settings);
  options.model = read_model_options(args);
  options.session = settings.session;
  registries.give_to(options.session);
  const EngineBuildOptions building = poly::engine_building({}, {});
  poly::set_engine(building, options.session);
  std::vector<poly::RunRunner> runners = read_runners(args, registries.backends, registries.plugins);
  if (runners.empty()) runners.push_back({.backend = "reference"});
  for (const poly::RunRunner& runner : runners)
    options.runners.push_back(poly::runner_choice(runner, registries.backends, building));
  options.loading = read_model_loader_options(args, options.model, registries.ops);
  options.data = read_data_options(args, options.model.input_shapes);
  return options;
}

RunnerChoice reference_runner(const CommandContext& context) {
  return poly::runner_choice({.backend = "reference"}, context.registries().backends,
                             poly::engine_building({}, {}));
}

std::shared_ptr<Model> load_layers(const ModelLoaderOptions& loading, std::vector<std::string>& outputs) {
  log::info("Loading model: {}", loading.path);
  ModelLoaderOptions noting = loading;
  noting.edits.emplace_back([&](const std::shared_ptr<Model>& model) {
    outputs.clear();
    for (const Value* v : model->graph->outputs) outputs.push_back(v->name());
  });
  return debug::model_of_layers(noting);
}

void save_text(const std::string& what, const std::string& text, const std::string& path) {
  log::info("Saving {} to {}", what, path);
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

}  // namespace assay::cli
