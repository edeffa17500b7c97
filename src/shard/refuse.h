// The error for what cannot be sharded.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "assay/error.h"
#include "base/wording.h"

namespace assay {

/// Throws Error (kInvalidArgument) with a remedy.
[[noreturn]] inline void refuse_to_shard(std::string message, Say remedy,
                                         const std::vector<std::string>& values = {}) {
  throw with_remedy(Error(ErrorCode::kInvalidArgument, std::move(message)), remedy, values);
}
/// The same with one that names no setting.
[[noreturn]] inline void refuse_to_shard(std::string message, const char* remedy) {
  Error e(ErrorCode::kInvalidArgument, std::move(message));
  e.set_remedy(remedy);
  throw e;
}

}  // namespace assay
