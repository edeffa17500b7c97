// The error for what cannot be sharded.
#pragma once

#include <string>
#include <utility>

#include "assay/error.h"

namespace assay {

/// Throws Error (kInvalidArgument) with a remedy.
[[noreturn]] inline void refuse_to_shard(std::string message, const char* remedy) {
  Error e(ErrorCode::kInvalidArgument, std::move(message));
  e.set_remedy(remedy);
  throw e;
}

}  // namespace assay
