// Memory for sessions of ONNX Runtime whose results are large.
#pragma once

#include "backends/onnxrt_api.h"

namespace assay::ort {

/// Allocates large blocks of sessions of `env` in a temporary file's mapping instead of in the process's own
/// memory, if they request it (the session option kUseEnvironmentAllocators): results of
/// hundreds of layers, and the copies of weights that ONNX Runtime makes, can then leave memory while they
/// are not in use. Returns ONNX Runtime's status if it refuses; null on success. Once per environment.
Status* register_spilling_allocator(const Api* api, Env* env);

/// Releases blocks that no session holds.
void release_unused_blocks();

inline constexpr const char* kUseEnvironmentAllocators = "session.use_env_allocators";

}  // namespace assay::ort
