// `assay bench`: makes backends ready, measures them and tells what came out.
#pragma once

#include <optional>
#include <string>

#include "bench/options.h"
#include "bench/result.h"

namespace assay::bench {

/// Does all that the options ask for, files included; the log tells of it. `command` is the command line.
/// Throws Error.
Result run_bench(const Options& options, const std::string& command);

/// The part of a backend's name before a colon, and the optimization level behind it.
struct BackendName {
  std::string backend;
  std::optional<int> level;
};
/// Throws Error: kNotFound for a backend that the set does not have; kInvalidArgument for a level that is
/// none, or of a backend other than the engine.
BackendName parse_backend_name(const std::string& name, const BackendSet& set);

}  // namespace assay::bench
