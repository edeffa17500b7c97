// Scripts of the user's as parts of a run: data, post-processing, comparison, runners.
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

/// The iterations that a data loader script makes, as they are asked for.
std::shared_ptr<DataSource> script_data(script::Reference reference);
/// What a script makes of outputs.
std::shared_ptr<const Postprocess> script_postprocess(script::Reference reference);
/// A script that says which outputs agree.
std::shared_ptr<const Comparison> script_comparison(script::Reference reference);
/// LPIPS, in the user's interpreter.
std::shared_ptr<OutputMeasure> lpips_measure();

/// Makes copies of the network that a script makes, which runs once.
std::function<std::shared_ptr<Model>()> script_network(script::Reference reference);
/// Has a script configure the builder; what it asks for in vain is said in the log.
std::function<void(const Model& network, EngineBuildOptions& options)> script_config(
    script::Reference reference);
/// Has a script change a network: EngineBuildOptions::change_network.
std::function<std::shared_ptr<const Model>(const Model& network)> script_network_change(
    script::Reference reference);
/// Has a script change a complete configuration: EngineBuildOptions::change_config.
std::function<void(const Model& network, BuilderConfig& config)> script_config_change(
    script::Reference reference);

/// A class in Python as a runner: `prefix` and `human_name` as in RunnerChoice; `options` are the class's
/// keyword arguments, `flag` as BackendInfo::option.
RunnerChoice script_runner(const script::RunnerReference& runner, const std::string& prefix,
                           const std::string& human_name,
                           std::vector<std::pair<std::string, std::string>> options = {},
                           const std::string& flag = "runner-script");

}  // namespace assay
