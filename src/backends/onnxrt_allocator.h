// Memory for sessions of ONNX Runtime whose results are large.
#pragma once

#include "backends/onnxrt_api.h"

namespace assay::ort {

/// Makes large blocks that sessions of `env` allocate lie in a temporary file's mapping instead of in the
/// process's own memory, if they ask for it (the session option kUseEnvironmentAllocators): results of
/// hundreds of layers, and the copies of weights that ONNX Runtime makes, can then leave memory while they
/// are not in use. Returns what ONNX Runtime reports if it refuses; null on success. Once per environment.
Status* register_spilling_allocator(const Api* api, Env* env);

/// Gives blocks back to the system that no session holds.
void release_unused_blocks();

inline constexpr const char* kUseEnvironmentAllocators = "session.use_env_allocators";

}  // namespace assay::ort
