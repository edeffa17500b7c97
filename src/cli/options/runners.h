// Options that choose and configure backends.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "assay/backend_set.h"
#include "assay/run.h"
#include "cli/args.h"
#include "script/session.h"

namespace assay::cli {

/// The flag of `run` that chooses a backend: --engine.
std::string flag_of(const Backend& backend);

/// --providers and --onnxrt-library, for commands that run ONNX Runtime.
Option providers_option();
Option onnxrt_library_option();
/// --custom-ops: libraries of operators for ONNX Runtime.
Option custom_ops_option();
/// --opset, which has no effect on ONNX models (check_run_effects, check_convert_effects).
Option opset_option();
/// --graph-optimization-level, and its value. Throws Error for a level that does not exist.
Option graph_optimization_option();
std::optional<int> read_graph_optimization_level(const ParsedArgs& args);
/// The word for a level; empty: there is none.
std::string graph_optimization_name(int level);

/// One flag per built-in backend, --trt, and common options: --threads, --ref-precision,
/// --providers,
/// --onnxrt-library.
void add_runner_options(ArgParser& parser, const BackendSet& backends);
/// Additions of Python packages: flags of runners, and their groups. Options of `run` are skipped.
void add_plugin_options(ArgParser& parser, const script::RunPlugins& plugins);
/// The runners in the order of the flags. Warns once when --trt is among them. Throws Error.
std::vector<poly::RunRunner> read_runners(const ParsedArgs& args, const BackendSet& backends,
                                          const script::RunPlugins& plugins);

}  // namespace assay::cli
