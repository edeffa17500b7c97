// Upstream's options for features that this build lacks. They are declared, so that a line with one gets the
// reason instead of a suggestion, and they are always refused.
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
