// What `convert` does for --int8 and --int4: models for other runtimes, what the accuracy costs, and how much
// of it a target leaves.
#pragma once

#include <memory>
#include <vector>

#include "assay/builder.h"
#include "cli/args.h"
#include "run/engine_building.h"

namespace assay::cli {

/// --int4 with its options, --accuracy-report, --accuracy-target.
std::vector<Option> quantizing_options();

/// The model as --int8 or --int4 make it, in ONNX. Logs. Throws Error.
std::shared_ptr<const Model> quantized_model(const ParsedArgs& args, const Runtime& runtime,
                                             const std::shared_ptr<const Model>& model,
                                             const EngineBuildOptions& building);
/// The engine, by these options, too.
std::shared_ptr<Engine> engine_of(const ParsedArgs& args, const Runtime& runtime,
                                  const std::shared_ptr<const Model>& model,
                                  const EngineBuildOptions& building);

}  // namespace assay::cli
