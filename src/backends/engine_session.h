// Engines as sessions.
#pragma once

#include <memory>

#include "assay/backend.h"
#include "assay/runtime.h"

namespace assay {

/// The runtime of a session's engines: threads, operators, passes and tactics.
std::shared_ptr<Runtime> session_runtime(const ModelSource& source, const SessionOptions& options);

/// True for an opset whose operator forms depend on
/// ranks, which the engine's passes do not handle.
bool has_old_forms(const Model& model);

/// A session on an engine. `network`: evaluated for its
/// error when a run fails; null if there is only a plan.
std::unique_ptr<Session> engine_session(std::shared_ptr<Runtime> runtime,
                                        const std::shared_ptr<Engine>& engine, size_t profile,
                                        std::shared_ptr<const Model> network);

/// A session on the plan at a path, saved again if the options request it. Throws Error.
std::unique_ptr<Session> plan_session(const ModelSource& source, const SessionOptions& options);

/// The inputs of an engine in one of its profiles:
/// an extent with a single value is known.
std::vector<TensorInfo> inputs_in_profile(const Engine& engine, size_t profile);

}  // namespace assay
