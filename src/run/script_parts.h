// User scripts as parts of a run: data, post-processing, comparison, runners.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compare/comparison.h"
#include "compare/metrics.h"
#include "compare/postprocess.h"
#include "run/data_source.h"
#include "run/engine_building.h"
#include "run/runner.h"
#include "script/reference.h"
#include "script/session.h"

namespace assay {

/// The iterations of a data loader script, on demand.
std::shared_ptr<DataSource> script_data(script::Reference reference);
/// Post-processing by a script.
std::shared_ptr<const Postprocess> script_postprocess(script::Reference reference);
/// Comparison by a script.
std::shared_ptr<const Comparison> script_comparison(script::Reference reference);
/// LPIPS, in the user's interpreter.
std::shared_ptr<OutputMeasure> lpips_measure();

/// Creates copies of a script's network; the script runs once.
std::function<std::shared_ptr<Model>()> script_network(script::Reference reference);
/// Lets a script configure the builder; logs unsupported requests.
std::function<void(const Model& network, EngineBuildOptions& options)> script_config(
    script::Reference reference);
/// Lets a script change a network: EngineBuildOptions::change_network.
std::function<std::shared_ptr<const Model>(const Model& network)> script_network_change(
    script::Reference reference);
/// Lets a script change a complete configuration: EngineBuildOptions::change_config.
std::function<void(const Model& network, BuilderConfig& config)> script_config_change(
    script::Reference reference);

/// A class in Python as a runner: `prefix` and `human_name` as in RunnerChoice; `options` are the class's
/// keyword arguments, `flag` as BackendInfo::option.
RunnerChoice script_runner(const script::RunnerReference& runner, const std::string& prefix,
                           const std::string& human_name,
                           std::vector<std::pair<std::string, std::string>> options = {},
                           const std::string& flag = "runner-script");

}  // namespace assay
