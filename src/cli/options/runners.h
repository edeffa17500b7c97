// Which backends run, and how they are set up.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "assay/backend_set.h"
#include "cli/args.h"
#include "run/engine_building.h"
#include "run/runner.h"

namespace assay::cli {

/// --providers and --onnxrt-library, for commands that run ONNX Runtime.
Option providers_option();
Option onnxrt_library_option();
/// --graph-optimization-level, and what it says. Throws Error for a level that does not exist.
Option graph_optimization_option();
std::optional<int> read_graph_optimization_level(const ParsedArgs& args);

/// One flag per backend of this build, --trt, and what concerns them all: --threads, --ref-precision,
/// --providers,
/// --onnxrt-library.
void add_runner_options(ArgParser& parser, const BackendSet& backends);
/// The runners in the order of the flags. Warns once when --trt is among them, and when `building` is for nobody. `is_plan`: the model is
/// an engine's plan, which --engine runs as --trt does.
std::vector<RunnerChoice> read_runner_choices(const ParsedArgs& args, const BackendSet& backends,
                                              const EngineBuildOptions& building, bool is_plan);
SessionOptions read_session_options(const ParsedArgs& args);

}  // namespace assay::cli
