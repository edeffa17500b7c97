// Upstream's options for things that this build does not have. They are known, so that a line that uses one
// gets the reason and not a guess, and they are always refused.
#pragma once

#include "cli/args.h"

namespace assay::cli {

/// Those of `run`: TensorFlow, the TensorRT builder and runtime, scripts, plots.
void add_unavailable_run_options(ArgParser& parser);
/// Those of `convert`.
void add_unavailable_convert_options(ArgParser& parser);
/// Those of `inspect model`: TensorFlow and TensorRT models.
void add_unavailable_inspect_options(ArgParser& parser);
/// Those of `template trt-network`.
void add_unavailable_network_options(ArgParser& parser);
/// Those of `template trt-config`.
void add_unavailable_config_options(ArgParser& parser);

}  // namespace assay::cli
