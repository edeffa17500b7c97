// Names of backends as a benchmark takes them: the engine's may have a level, as in engine:0.
#pragma once

#include <optional>
#include <string>

#include "assay/backend_set.h"

namespace assay::bench {

/// Our engine's name.
inline constexpr const char* kEngine = "engine";

/// The part of a backend's name before a colon, and the optimization level behind it.
struct BackendName {
  std::string backend;
  std::optional<int> level;
};
/// Throws Error: kNotFound for a backend that the set does not have; kInvalidArgument for a level that is
/// none, or of a backend other than the engine.
BackendName parse_backend_name(const std::string& name, const BackendSet& set);

}  // namespace assay::bench
