// Engines as sessions.
#pragma once

#include <memory>

#include "assay/backend.h"
#include "assay/runtime.h"

namespace assay {

/// What engines of a session run on: its threads, operators, passes and tactics.
std::shared_ptr<Runtime> session_runtime(const ModelSource& source, const SessionOptions& options);

/// A session on an engine. `network`: asked for its own words when a run of it fails; null where there is
/// only a plan.
std::unique_ptr<Session> engine_session(std::shared_ptr<Runtime> runtime,
                                        const std::shared_ptr<Engine>& engine, size_t profile,
                                        std::shared_ptr<const Model> network);

/// A session on the plan at a path, saved again where the options say so. Throws Error.
std::unique_ptr<Session> plan_session(const ModelSource& source, const SessionOptions& options);

/// The inputs of an engine as they are in one of its profiles: an extent of which that has one value only is
/// known.
std::vector<TensorInfo> inputs_in_profile(const Engine& engine, size_t profile);

}  // namespace assay
